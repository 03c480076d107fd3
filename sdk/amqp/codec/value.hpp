// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <sessionq/time.hpp>

#include "core/uuid.hpp"

namespace sessionq::amqp {

class Value;

/// A name from a fixed vocabulary, in contrast to free text.
struct Symbol {
    std::string text{};
    friend bool operator==(const Symbol&, const Symbol&) = default;
};

struct Binary {
    std::string bytes{};
    friend bool operator==(const Binary&, const Binary&) = default;
};

/// Milliseconds since the Unix epoch.
struct Timestamp {
    std::int64_t milliseconds{0};
    friend bool operator==(const Timestamp&, const Timestamp&) = default;
    /// The ends of the clock's range stand for those of the years 1 to 9999, which are as far as
    /// most clients can tell.
    [[nodiscard]] static Timestamp of(WallTime time) noexcept;
    /// Adds `by` to `from`. A result that does not fit is clamped.
    [[nodiscard]] static Timestamp later(WallTime from, std::chrono::milliseconds by) noexcept;
    /// A time outside of the clock's range is one of its ends (`is_beyond`).
    [[nodiscard]] WallTime time() const noexcept;
};

/// A decimal32, decimal64 or decimal128 in its encoded form.
struct Decimal {
    std::uint8_t code{0x84};
    std::string bytes{};
    friend bool operator==(const Decimal&, const Decimal&) = default;
};

using List = std::vector<Value>;
using Map = std::vector<std::pair<Value, Value>>; // in the order of the wire

/// An array whose elements all have the type of the constructor code `element`. Described elements
/// share `descriptor`. The caller makes sure that the types agree. If a value does not fit the form
/// of `element`, the encoder uses the type's widest form.
template <typename Item> // always Value, which is incomplete here
struct ArrayOf {
    std::uint8_t element{0x40};
    std::vector<Item> items{};
    std::shared_ptr<const Item> descriptor{};
};
using Array = ArrayOf<Value>;

struct Described;

/// Any AMQP 1.0 value (part 1 of the standard). Copies are deep, except for described values, which
/// are shared and immutable.
class Value {
public:
    using Held =
        std::variant<std::monostate, bool, std::uint8_t, std::uint16_t, std::uint32_t,
                     std::uint64_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float,
                     double, char32_t, Timestamp, core::Uuid, Decimal, Binary, std::string, Symbol,
                     List, Map, Array, std::shared_ptr<const Described>>;

    Value() noexcept = default;
    // Out of line, because each source that copies one would compile them for all types again.
    Value(const Value& other);
    Value(Value&& other) noexcept;
    Value& operator=(const Value& other);
    Value& operator=(Value&& other) noexcept;
    ~Value();
    template <typename T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Value> &&
             std::is_constructible_v<Held, std::in_place_type_t<std::remove_cvref_t<T>>, T>)
        Value(T&& held)
        : held_{std::in_place_type<std::remove_cvref_t<T>>, std::forward<T>(held)} {
    }                                                     // NOLINT(google-explicit-constructor)
    Value(const char* text) : held_{std::string{text}} {} // NOLINT(google-explicit-constructor)
    Value(std::string_view text)
        : held_{std::string{text}} {} // NOLINT(google-explicit-constructor)

    [[nodiscard]] static Value symbol(std::string_view text) { return Symbol{std::string{text}}; }
    [[nodiscard]] static Value binary(std::string_view bytes) { return Binary{std::string{bytes}}; }
    [[nodiscard]] static Value list(std::initializer_list<Value> items);
    [[nodiscard]] static Value map(std::initializer_list<std::pair<Value, Value>> entries);
    [[nodiscard]] static Value described(Value descriptor, Value value);

    [[nodiscard]] bool is_null() const noexcept { return held_.index() == 0; }
    template <typename T>
    [[nodiscard]] const T* as() const noexcept {
        return std::get_if<T>(&held_);
    }
    [[nodiscard]] const Held& held() const noexcept { return held_; }

    /// Returns an integer of any width if it fits, else nothing.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> unsigned_integer() const noexcept;
    /// Returns a string or symbol.
    [[nodiscard]] std::optional<std::string_view> text() const noexcept;
    /// Returns the bytes of a binary, string or symbol.
    [[nodiscard]] std::optional<std::string_view> bytes() const noexcept;
    /// Returns the elements of a list or array, else null.
    [[nodiscard]] const std::vector<Value>* items() const noexcept;
    [[nodiscard]] const Described* described() const noexcept;
    /// Returns the value under this key of a map. Returns null if there is none, or if this is not
    /// a map.
    [[nodiscard]] const Value* find(std::string_view key) const noexcept;

    /// For error texts and tests.
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(const Value& left, const Value& right);

private:
    Held held_{};
};

struct Described {
    Value descriptor{};
    Value value{};
};

} // namespace sessionq::amqp
