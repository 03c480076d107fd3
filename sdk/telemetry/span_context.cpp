// SPDX-License-Identifier: MIT
#include "telemetry/span_context.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include <opentelemetry/trace/trace_state.h>

namespace sessionq::inline v1 {
namespace {

namespace trace_api = opentelemetry::trace;
namespace nostd = opentelemetry::nostd;

/// Digits that `TraceContext::parse` accepted.
template <std::size_t Size>
std::array<std::uint8_t, Size> bytes_of(std::string_view digits) {
    std::array<std::uint8_t, Size> bytes{};
    for (std::size_t i = 0; i < Size; ++i) {
        const char* const at = digits.data() + 2 * i;
        std::from_chars(at, at + 2, bytes[i], 16);
    }
    return bytes;
}

template <std::size_t Digits, typename Id>
void append(std::string& text, const Id& id) {
    std::array<char, Digits> digits{};
    id.ToLowerBase16(nostd::span<char, Digits>{digits.data(), Digits});
    text.append("-").append(digits.data(), digits.size());
}

} // namespace

trace_api::SpanContext to_span_context(const TraceContext& trace, bool is_remote) {
    const auto valid = TraceContext::parse(trace.traceparent, trace.tracestate);
    if (!valid) {
        return trace_api::SpanContext::GetInvalid();
    }
    const std::string_view fields{valid->traceparent}; // version, trace id, parent id and flags
    const auto trace_id = bytes_of<trace_api::TraceId::kSize>(fields.substr(3, 32));
    const auto span_id = bytes_of<trace_api::SpanId::kSize>(fields.substr(36, 16));
    const auto flags = bytes_of<1>(fields.substr(53, 2));
    return {trace_api::TraceId{nostd::span<const std::uint8_t, trace_api::TraceId::kSize>{
                trace_id.data(), trace_id.size()}},
            trace_api::SpanId{nostd::span<const std::uint8_t, trace_api::SpanId::kSize>{
                span_id.data(), span_id.size()}},
            trace_api::TraceFlags{flags[0]}, is_remote,
            trace_api::TraceState::FromHeader(valid->tracestate)};
}

std::optional<TraceContext> to_trace_context(const trace_api::SpanContext& span) {
    std::string traceparent{"00"};
    append<2 * trace_api::TraceId::kSize>(traceparent, span.trace_id());
    append<2 * trace_api::SpanId::kSize>(traceparent, span.span_id());
    append<2>(traceparent, span.trace_flags());
    return TraceContext::parse(traceparent, span.trace_state()->ToHeader());
}

} // namespace sessionq::inline v1

namespace sessionq::telemetry {

ParentSource choose_parent(const trace_api::SpanContext& given,
                           const trace_api::SpanContext& current, SpanKind kind) noexcept {
    const bool may_be_current = kind != SpanKind::consumer && current.IsValid() &&
                                (!given.IsValid() || given.trace_id() == current.trace_id());
    if (may_be_current) {
        return ParentSource::current;
    }
    return given.IsValid() ? ParentSource::given : ParentSource::none;
}

} // namespace sessionq::telemetry
