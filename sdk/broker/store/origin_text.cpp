// SPDX-License-Identifier: MIT
#include "broker/store/origin_text.hpp"

#include <charconv>
#include <cstddef>
#include <optional>

namespace sessionq::broker {
namespace {

/// Reads a number and the comma behind it.
template <typename Number>
std::optional<Number> read_number(std::string_view& text) noexcept {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto length = static_cast<std::size_t>(end - text.data());
    if (error != std::errc{} || length == text.size() || *end != ',') {
        return std::nullopt;
    }
    text.remove_prefix(length + 1);
    return number;
}

} // namespace

std::string OriginText::write() const {
    if (first_sequence == 0) {
        return {};
    }
    return "=" + std::to_string(first_sequence) + "," + std::to_string(source.size()) + "," +
           std::string{source} + " ";
}

OriginText OriginText::read(std::string_view& text) noexcept {
    std::string_view rest = text;
    if (!rest.starts_with('=')) {
        return {};
    }
    rest.remove_prefix(1);
    const auto first = read_number<std::int64_t>(rest);
    const auto length = first ? read_number<std::size_t>(rest) : std::nullopt;
    if (!length || *length >= rest.size()) {
        return {};
    }
    const OriginText origin{.first_sequence = *first, .source = rest.substr(0, *length)};
    text = rest.substr(*length + 1);
    return origin;
}

} // namespace sessionq::broker
