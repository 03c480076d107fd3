// SPDX-License-Identifier: MIT
#include "core/trace_context.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace sessionq::inline v1 {
namespace {

constexpr std::string_view traceparent_property = "traceparent";
constexpr std::string_view tracestate_property = "tracestate";
constexpr std::string_view diagnostic_id_property = "Diagnostic-Id";

constexpr std::size_t longest = 512; // of each field

/// The fields of a traceparent: version, trace id, parent id and flags.
constexpr std::array<std::size_t, 4> widths{2, 32, 16, 2};
constexpr std::size_t length_of_version_00 = 55;

bool is_hexadecimal(std::string_view text) noexcept {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_zero(std::string_view text) noexcept {
    return text.find_first_not_of('0') == std::string_view::npos;
}

/// A later version may have more fields. They follow another hyphen.
bool has_valid_length(std::string_view traceparent) noexcept {
    if (traceparent.size() <= length_of_version_00) {
        return traceparent.size() == length_of_version_00;
    }
    return traceparent.size() <= longest && !traceparent.starts_with("00") &&
           traceparent[length_of_version_00] == '-';
}

bool is_valid(std::string_view traceparent) noexcept {
    if (!has_valid_length(traceparent) || traceparent.starts_with("ff")) {
        return false;
    }
    std::size_t begins = 0;
    for (const std::size_t width : widths) {
        if (!is_hexadecimal(traceparent.substr(begins, width)) ||
            (begins != 0 && traceparent[begins - 1] != '-')) {
            return false;
        }
        begins += width + 1;
    }
    return !is_zero(traceparent.substr(3, 32)) && !is_zero(traceparent.substr(36, 16));
}

bool is_printable(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::string text_of(const std::optional<PropertyValue>& value) {
    const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
    return text != nullptr ? *text : std::string{};
}

/// `property(name)`: an application property.
template <typename Property>
std::optional<TraceContext> find_trace(Property property) {
    if (const auto parent = property(traceparent_property)) {
        if (auto trace = TraceContext::parse(text_of(parent))) {
            return TraceContext::parse(trace->traceparent, text_of(property(tracestate_property)));
        }
    }
    const auto id = property(diagnostic_id_property);
    return id ? TraceContext::parse(text_of(id)) : std::nullopt;
}

} // namespace

std::optional<TraceContext> TraceContext::parse(std::string_view traceparent,
                                                std::string_view tracestate) {
    if (!is_valid(traceparent) || !is_printable(traceparent)) {
        return std::nullopt;
    }
    auto parsed = std::make_optional<TraceContext>();
    parsed->traceparent = traceparent;
    if (tracestate.size() <= longest && is_printable(tracestate)) {
        parsed->tracestate = tracestate;
    }
    return parsed;
}

std::optional<TraceContext> ReceivedMessage::trace() const {
    return find_trace([this](std::string_view name) { return there().property(name); });
}

} // namespace sessionq::inline v1

namespace sessionq::core {

bool has_trace(const Properties& properties) {
    return properties.contains(traceparent_property) || properties.contains(tracestate_property) ||
           properties.contains(diagnostic_id_property);
}

std::optional<TraceContext> trace_in(const Properties& properties) {
    return find_trace([&properties](std::string_view name) {
        const auto found = properties.find(name);
        return found == properties.end() ? std::nullopt : std::optional{found->second};
    });
}

void add_trace(const TraceContext& trace, Properties& properties) {
    const auto valid = TraceContext::parse(trace.traceparent, trace.tracestate);
    if (!valid || has_trace(properties)) {
        return;
    }
    properties.emplace(traceparent_property, valid->traceparent);
    properties.emplace(diagnostic_id_property, valid->traceparent);
    if (!valid->tracestate.empty()) {
        properties.emplace(tracestate_property, valid->tracestate);
    }
}

} // namespace sessionq::core
