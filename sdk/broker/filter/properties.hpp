// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/message_content.hpp>

#include "broker/filter/value.hpp"

namespace sessionq::broker::filter {

/// A property as an expression names it: one of the message's own (`sys.`), or an application
/// property.
struct PropertyName {
    std::optional<TextField> system{}; ///< unset: an application property
    std::string name{};

    friend bool operator==(const PropertyName&, const PropertyName&) = default;
};

/// Finds one of the message's own properties by its name in expressions, in any case. Nothing if
/// expressions do not know it.
[[nodiscard]] std::optional<TextField> find_system_property(std::string_view name) noexcept;

/// The names of these properties, for error texts.
[[nodiscard]] std::string list_system_properties();

/// The text of one of the message's own properties; nothing if the message has none.
[[nodiscard]] std::optional<std::string_view> text_of(const Message& message,
                                                      TextField field) noexcept;

/// Sets the text, or removes it if there is no value.
void set_text(Message& message, TextField field, std::optional<std::string> text);

/// Finds an application property by exactly this name, or else in any case; `end` if there is none.
[[nodiscard]] Properties::const_iterator find_property(const Properties& properties,
                                                       std::string_view name) noexcept;

/// The value of a property; unknown if the message does not have it.
[[nodiscard]] Value value_of(const Message& message, const PropertyName& name);

/// Whether a message has the property, with or without a value.
[[nodiscard]] bool has(const Message& message, const PropertyName& name) noexcept;

} // namespace sessionq::broker::filter
