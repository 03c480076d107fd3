// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <sessionq/property_value.hpp>

namespace sessionq::inline v1 {

class AmqpValue;

/// AMQP's list. Its values may have different types. Write a list that holds nothing but another
/// list as `AmqpList(1, inner)`, because compilers take `AmqpList{inner}` for a copy.
using AmqpList = std::vector<AmqpValue>;

/// AMQP's map: keys and values in the order of the wire, which counts when maps are compared. No
/// two keys may be equal. The library does not check that.
using AmqpMap = std::vector<std::pair<AmqpValue, AmqpValue>>;

/// Any value of AMQP: a scalar, a list or a map. Lists and maps may hold lists and maps. Null by
/// default. `Message::value` sends one, `ReceivedMessage::value` reads it.
///
/// Scalars are held as a `PropertyValue`, and the same C++ types convert: signed integers become
/// AMQP's long, unsigned integers ulong, `float` and `double` become double. For another AMQP type
/// use `PropertyValue{value, type}`. An array, or a described value that sessionq does not know, is
/// received as an `EncodedValue`.
///
/// Example:
///
///     const AmqpValue order{AmqpMap{{"customer", "ada"},
///                                   {"lines", 5},
///                                   {"parts", AmqpList{"bolt", "nut"}}}};
///     std::cout << order.entry<int>("lines").value_or(0) << ' ' << order << '\n';
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class AmqpValue {
public:
    /// Null.
    AmqpValue() noexcept;
    AmqpValue(const AmqpValue& other);
    AmqpValue(AmqpValue&& other) noexcept;
    AmqpValue& operator=(const AmqpValue& other);
    AmqpValue& operator=(AmqpValue&& other) noexcept;
    ~AmqpValue();

    // NOLINTBEGIN(google-explicit-constructor): `{"lines", 5}` needs them.

    /// A scalar, from everything that a `PropertyValue` is made from.
    template <typename T>
    requires(!std::same_as<std::remove_cvref_t<T>, AmqpValue> &&
             !std::same_as<std::remove_cvref_t<T>, AmqpList> &&
             !std::same_as<std::remove_cvref_t<T>, AmqpMap> &&
             std::constructible_from<PropertyValue, T>) AmqpValue(T&& scalar)
        : AmqpValue{Scalar{}, PropertyValue(std::forward<T>(scalar))} {}
    AmqpValue(AmqpList list) noexcept;
    AmqpValue(AmqpMap map) noexcept;

    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] bool is_null() const noexcept;

    /// The scalar, also null. A null pointer: this is a list or a map.
    [[nodiscard]] const PropertyValue* scalar() const noexcept;
    /// The list. A null pointer: this is not a list.
    [[nodiscard]] const AmqpList* list() const noexcept;
    /// The map. A null pointer: this is not a map.
    [[nodiscard]] const AmqpMap* map() const noexcept;

    /// The scalar as a `T`, as `PropertyValue::as` converts it. Nothing if it cannot become a `T`,
    /// or if this is a list or a map.
    template <PropertyType T>
    [[nodiscard]] std::optional<T> as() const {
        const PropertyValue* const held = scalar();
        return held != nullptr ? held->as<T>() : std::nullopt;
    }

    /// The value of a map's first entry whose key is this string or symbol. A null pointer: there
    /// is no such entry, or this is not a map.
    [[nodiscard]] const AmqpValue* find(std::string_view key) const noexcept;

    /// The value of a map's entry as a `T`: `entry<int>("lines")`. Nothing if there is no such
    /// entry, if it cannot become a `T`, or if this is not a map.
    template <PropertyType T>
    [[nodiscard]] std::optional<T> entry(std::string_view key) const {
        const AmqpValue* const found = find(key);
        return found != nullptr ? found->as<T>() : std::nullopt;
    }

    /// The value in AMQP's encoding. An `EncodedValue` that is not one valid value becomes null.
    [[nodiscard]] std::string encoded() const;

    /// Reads exactly one encoded value. Nothing if the bytes are anything else, or if lists and
    /// maps are nested more than 32 deep.
    [[nodiscard]] static std::optional<AmqpValue> decode(std::string_view encoded);

    /// For logs and tests, such as `{"lines": 5}`. The form may change.
    [[nodiscard]] std::string to_string() const;

    /// Compares scalars as `PropertyValue` does: an int and a long of the same value are equal.
    friend bool operator==(const AmqpValue& left, const AmqpValue& right) noexcept;

private:
    struct Scalar {};
    AmqpValue(Scalar, PropertyValue&& scalar) noexcept;

    std::variant<PropertyValue, AmqpList, AmqpMap> held_;
};

/// Writes `value.to_string()`.
std::ostream& operator<<(std::ostream& out, const AmqpValue& value);

} // namespace sessionq::inline v1
