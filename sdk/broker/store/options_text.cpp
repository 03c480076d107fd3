// SPDX-License-Identifier: MIT
#include "broker/store/options_text.hpp"

#include <charconv>
#include <chrono>
#include <concepts>
#include <optional>

namespace sessionq::broker {
namespace {

/// Calls `visit(name, member)` for each member.
template <typename Options, typename Visit>
void visit_members(Options& options, Visit visit) {
    visit("requires_session", options.requires_session);
    visit("lock_duration", options.lock_duration);
    visit("max_delivery_count", options.max_delivery_count);
    visit("default_time_to_live", options.default_time_to_live);
    visit("dead_letter_on_expiration", options.dead_letter_on_expiration);
    visit("max_size_bytes", options.max_size_bytes);
    visit("max_message_bytes", options.max_message_bytes);
    visit("duplicate_detection_window", options.duplicate_detection_window);
    visit("forward_to", options.forward_to);
    visit("forward_dead_letters_to", options.forward_dead_letters_to);
    visit("order", options.order);
    visit("order_property", options.order_property);
}

std::optional<std::string> to_value(bool value) { return value ? "yes" : "no"; }
std::optional<std::string> to_value(const std::string& value) {
    return value.empty() ? std::nullopt : std::optional{value};
}
std::optional<std::string> to_value(MessageOrder value) {
    switch (value) {
    case MessageOrder::priority: return "priority";
    case MessageOrder::property: return "property";
    default: return std::nullopt;
    }
}
template <std::integral Number>
std::optional<std::string> to_value(Number value) {
    return std::to_string(value);
}
// The number of the duration's own ticks.
template <typename Rep, typename Period>
std::optional<std::string> to_value(std::chrono::duration<Rep, Period> value) {
    return std::to_string(value.count());
}
template <typename T>
std::optional<std::string> to_value(const std::optional<T>& value) {
    return value ? to_value(*value) : std::nullopt;
}

bool read_value(std::string_view text, bool& to) {
    to = text == "yes";
    return to || text == "no";
}
bool read_value(std::string_view text, std::string& to) {
    to = text;
    return true;
}
bool read_value(std::string_view text, MessageOrder& to) {
    to = text == "priority" ? MessageOrder::priority : MessageOrder::property;
    return to == MessageOrder::priority || text == "property";
}
template <std::integral Number>
bool read_value(std::string_view text, Number& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc{} && end == text.data() + text.size();
}
template <typename Rep, typename Period>
bool read_value(std::string_view text, std::chrono::duration<Rep, Period>& to) {
    Rep count{};
    const bool is_read = read_value(text, count);
    to = std::chrono::duration<Rep, Period>{count};
    return is_read;
}
template <typename T>
bool read_value(std::string_view text, std::optional<T>& to) {
    return read_value(text, to.emplace());
}

bool read_line(std::string_view line, QueueOptions& to) {
    const std::size_t equals = line.find('=');
    bool is_read = false;
    visit_members(to, [&](std::string_view name, auto& member) {
        if (equals != std::string_view::npos && line.substr(0, equals) == name) {
            is_read = read_value(line.substr(equals + 1), member);
        }
    });
    return is_read;
}

} // namespace

std::string to_text(const QueueOptions& options) {
    std::string text;
    visit_members(options, [&](std::string_view name, const auto& member) {
        if (const auto value = to_value(member)) {
            text.append(name).append("=").append(*value).append("\n");
        }
    });
    return text;
}

core::Result<QueueOptions> read_options(std::string_view text) {
    QueueOptions options;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!read_line(line, options)) {
            return Failure{.code = Errc::protocol_error,
                           .detail = "unknown queue option '" + std::string{line} + "'"};
        }
    }
    return options;
}

} // namespace sessionq::broker
