// SPDX-License-Identifier: MIT
#include "tools/sessionq/property_text.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include "tools/command_line.hpp"
#include "tools/nearest_word.hpp"
#include "tools/sessionq/base64.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

template <typename Number>
std::optional<PropertyValue> parse_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return PropertyValue{number};
}

std::optional<PropertyValue> parse_bytes(std::string_view text) {
    const auto bytes = from_base64(text);
    if (!bytes) {
        return std::nullopt;
    }
    const auto* const first = reinterpret_cast<const std::byte*>(bytes->data());
    return PropertyValue{std::vector<std::byte>(first, first + bytes->size())};
}

struct Type {
    std::string name;
    std::optional<PropertyValue> (*parse)(std::string_view);
};

const std::vector<Type>& types() {
    static const std::vector<Type> all{
        {"string",
         [](std::string_view text) { return std::optional<PropertyValue>{std::string{text}}; }},
        {"int", parse_number<std::int64_t>},
        {"uint", parse_number<std::uint64_t>},
        {"double", parse_number<double>},
        {"bool",
         [](std::string_view text) {
             return text == "true"    ? std::optional<PropertyValue>{true}
                    : text == "false" ? std::optional<PropertyValue>{false}
                                      : std::nullopt;
         }},
        {"time",
         [](std::string_view text) {
             const auto time = parse_time(text);
             return time ? std::optional<PropertyValue>{*time} : std::nullopt;
         }},
        {"base64", parse_bytes},
        {"null",
         [](std::string_view text) {
             return text.empty() ? std::optional<PropertyValue>{std::monostate{}} : std::nullopt;
         }},
    };
    return all;
}

} // namespace

std::pair<std::string, PropertyValue> parse_property(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw tools::UsageError{"--property: '" + std::string{text} +
                                "' is not NAME=VALUE or NAME:TYPE=VALUE"};
    }
    const std::string_view value = text.substr(equals + 1);
    const std::string_view left = text.substr(0, equals);
    const std::size_t colon = left.rfind(':');
    const std::string name{left.substr(0, colon)};
    const std::string type{colon == std::string_view::npos ? "string" : left.substr(colon + 1)};
    std::vector<std::string> names;
    for (const Type& each : types()) {
        names.push_back(each.name);
        if (each.name == type) {
            if (auto parsed = each.parse(value)) {
                return {name, *std::move(parsed)};
            }
            throw tools::UsageError{"--property " + name + ": '" + std::string{value} +
                                    "' is no value of type " + type};
        }
    }
    throw tools::UsageError{"--property " + name + ": unknown type '" + type + "'" +
                            tools::did_you_mean(type, names)};
}

} // namespace sessionq::cli
