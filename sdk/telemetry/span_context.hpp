// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/opentelemetry.hpp>

namespace sessionq::telemetry {

/// Where the parent of a span comes from.
enum class ParentSource : std::uint8_t {
    none,    ///< The span begins a trace.
    given,   ///< sessionq's context.
    current, ///< OpenTelemetry's current span of this thread.
};

/// Decides between the two contexts. `given`: invalid if sessionq has none. Within the same trace
/// the current span is the inner one, because sessionq's context is that of a handler's span or was
/// passed on from there.
[[nodiscard]] ParentSource choose_parent(const opentelemetry::trace::SpanContext& given,
                                         const opentelemetry::trace::SpanContext& current,
                                         SpanKind kind) noexcept;

} // namespace sessionq::telemetry
