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

/// A name from a peer's vocabulary, where a string is free text.
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
    [[nodiscard]] static Timestamp of(WallTime time) noexcept;
    /// So long after `from`; what cannot be represented comes as far as it can.
    [[nodiscard]] static Timestamp later(WallTime from, std::chrono::milliseconds by) noexcept;
    /// Saturates where the clock's range is narrower.
    [[nodiscard]] WallTime time() const noexcept;
};

/// A decimal32, decimal64 or decimal128, kept as it was encoded: nothing here computes with one.
struct Decimal {
    std::uint8_t code{0x84};
    std::string bytes{};
    friend bool operator==(const Decimal&, const Decimal&) = default;
};

using List = std::vector<Value>;
using Map = std::vector<std::pair<Value, Value>>; // in the order of the wire

/// Elements of one type, that of `element`, an AMQP constructor code; for described elements with
/// their descriptor. Whoever makes one sees to it that all are of that type; where one does not fit
/// the form that `element` names, the encoder takes the type's widest.
template <typename Item> // always Value, which is not whole here yet
struct ArrayOf {
    std::uint8_t element{0x40};
    std::vector<Item> items{};
    std::shared_ptr<const Item> descriptor{};
};
using Array = ArrayOf<Value>;

struct Described;

/// Any AMQP 1.0 value (part 1 of the standard). A value type; copies are deep but for described
/// values, which are shared and immutable.
class Value {
public:
    using Held =
        std::variant<std::monostate, bool, std::uint8_t, std::uint16_t, std::uint32_t,
                     std::uint64_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float,
                     double, char32_t, Timestamp, core::Uuid, Decimal, Binary, std::string, Symbol,
                     List, Map, Array, std::shared_ptr<const Described>>;

    Value() noexcept = default;
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

    /// An integer of any width that fits; nothing on anything else.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] std::optional<std::uint64_t> unsigned_integer() const noexcept;
    /// A string or a symbol.
    [[nodiscard]] std::optional<std::string_view> text() const noexcept;
    /// Binary, string or symbol: the bytes.
    [[nodiscard]] std::optional<std::string_view> bytes() const noexcept;
    /// The elements of a list or an array; null on anything else.
    [[nodiscard]] const std::vector<Value>* items() const noexcept;
    [[nodiscard]] const Described* described() const noexcept;
    /// Of a map, the value under a key that is this string or symbol; null if there is none, or no
    /// map.
    [[nodiscard]] const Value* find(std::string_view key) const noexcept;

    /// For people: error texts and tests.
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
