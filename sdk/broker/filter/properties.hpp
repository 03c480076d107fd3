#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/message_content.hpp>

#include "broker/filter/value.hpp"

namespace sessionq::broker::filter {

/// A property as an expression names it: one of the message's own, `sys.`, or an application
/// property.
struct PropertyName {
    std::optional<TextField> own{}; ///< unset: an application property
    std::string name{};

    friend bool operator==(const PropertyName&, const PropertyName&) = default;
};

/// The one of a message's own properties with this name, as expressions know it and in any case.
/// Nothing: expressions know none of it.
[[nodiscard]] std::optional<TextField> find_own(std::string_view name) noexcept;

/// How that one is called in expressions, for error texts.
[[nodiscard]] std::string list_own();

/// The text of one of a message's own properties; nothing: it has none.
[[nodiscard]] std::optional<std::string_view> text_of(const Message& message,
                                                      TextField field) noexcept;

/// Sets or, without a value, removes the same.
void set_text(Message& message, TextField field, std::optional<std::string> text);

/// The application property with exactly this name, or else in any case; `end` if there is none.
[[nodiscard]] Properties::const_iterator find_property(const Properties& properties,
                                                       std::string_view name) noexcept;

/// The value of a property; unknown: the message has none.
[[nodiscard]] Value value_of(const Message& message, const PropertyName& name);

/// Whether a message has the property, be it without a value.
[[nodiscard]] bool has(const Message& message, const PropertyName& name) noexcept;

} // namespace sessionq::broker::filter
