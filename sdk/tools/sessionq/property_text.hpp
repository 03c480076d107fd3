// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/message.hpp>

namespace sessionq::cli {

/// Reads an application property: NAME=VALUE for text, or NAME:TYPE=VALUE with one of
/// `value_types`. A name that contains ':' needs a type. Throws UsageError.
[[nodiscard]] std::pair<std::string, PropertyValue> parse_property(std::string_view text);

/// The names of types of values.
[[nodiscard]] const std::vector<std::string>& value_types();

/// Reads the text of a value of a named type. Nothing for another text, or an unknown type.
[[nodiscard]] std::optional<PropertyValue> parse_value(std::string_view type,
                                                       std::string_view text);

/// A value as `parse_value` reads it. All values have this form.
struct TypedText {
    std::string type{};
    std::string text{};
};
[[nodiscard]] TypedText typed_text(const PropertyValue& value);

} // namespace sessionq::cli
