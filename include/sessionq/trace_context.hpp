// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sessionq::inline v1 {

/// A trace context: the two fields of W3C's Trace Context, which name the operation of a
/// distributed trace that work belongs to.
///
/// Messages carry it (`Sender`) in the application properties `traceparent` and `tracestate`, as
/// OpenTelemetry writes them, and in `Diagnostic-Id`. A handler runs under the trace of its
/// message. With a `Tracer` both are spans of sessionq's.
///
/// Example: the trace of an HTTP request goes on in the handler of the message.
///
///     const std::string_view header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
///     if (const auto trace = TraceContext::parse(header)) {
///         sender.send(Message::of("placed").in_session("ada"), {.context =
///         OperationContext{}.with_trace(*trace)});
///     }
///
/// Sources: W3C's Trace Context, level 1 (https://www.w3.org/TR/trace-context-1). Microsoft's
/// documentation of Azure Service Bus defines `Diagnostic-Id`, with the value of `traceparent`.
/// Azure's older clients read nothing else. Its current ones write both, and read `Diagnostic-Id`
/// where there is no `traceparent` (https://github.com/Azure/azure-sdk-for-python/pull/30291).
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct TraceContext {
    /// Version, trace id, parent id and flags, in hexadecimal digits of lower case.
    std::string traceparent{};

    /// The entries that the tracing systems on the way add. May be empty.
    std::string tracestate{};

    /// A trace context from outside. Returns nothing if `traceparent` is invalid by the W3C's
    /// rules, or longer than 512 characters. A `tracestate` is dropped if it is longer than 512
    /// characters or not printable ASCII.
    [[nodiscard]] static std::optional<TraceContext> parse(std::string_view traceparent,
                                                           std::string_view tracestate = {});

    friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

} // namespace sessionq::inline v1
