// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <sessionq/decimal.hpp>
#include <sessionq/time.hpp>
#include <sessionq/uuid.hpp>

namespace sessionq {

/// A length of time as .NET has it, in units of 100 ns. On the wire it is the described type
/// `com.microsoft:timespan` of Azure's client for .NET.
using TimeSpan = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

/// A URI. On the wire it is the described type `com.microsoft:uri` of Azure's client for .NET.
struct Uri {
    explicit Uri(std::string of) noexcept : text{std::move(of)} {}

    std::string text;

    friend bool operator==(const Uri&, const Uri&) = default;
};

/// An instant as .NET's `DateTimeOffset`. On the wire it is the described type
/// `com.microsoft:datetime-offset` of Azure's client for .NET, which does not send the offset.
struct DateTimeOffset {
    explicit constexpr DateTimeOffset(TimeSpan since_year_one) noexcept : since{since_year_one} {}
    explicit DateTimeOffset(WallTime time) noexcept;

    TimeSpan since; ///< The beginning of year 1, UTC.

    /// Nothing if `WallTime` cannot hold it.
    [[nodiscard]] std::optional<WallTime> time() const noexcept;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated zero for a pointer
    friend auto operator<=>(const DateTimeOffset&, const DateTimeOffset&) = default;
};

/// A timestamp that `WallTime` cannot hold, such as one of year 9999.
struct FarTime {
    explicit constexpr FarTime(std::chrono::milliseconds since_1970) noexcept : since{since_1970} {}

    std::chrono::milliseconds since; ///< The beginning of 1970, UTC.

    friend auto operator<=>(const FarTime&, const FarTime&) = default;
};

/// A value that has no type of its own here (a list, map, array or described value), as AMQP
/// encodes it.
struct EncodedValue {
    explicit EncodedValue(std::string of) noexcept : bytes{std::move(of)} {}

    std::string bytes; ///< Exactly one encoded value.

    friend bool operator==(const EncodedValue&, const EncodedValue&) = default;
};

/// AMQP's type of a property's value.
enum class ValueType : std::uint8_t {
    null,
    boolean,
    uint8,  ///< AMQP's ubyte.
    uint16, ///< AMQP's ushort.
    uint32, ///< AMQP's uint.
    uint64, ///< AMQP's ulong.
    int8,   ///< AMQP's byte.
    int16,  ///< AMQP's short.
    int32,  ///< AMQP's int.
    int64,  ///< AMQP's long.
    float32,
    float64, ///< AMQP's double.
    decimal32,
    decimal64,
    decimal128,
    character,
    timestamp,
    uuid,
    binary,
    string,
    symbol,
    time_span,        ///< Of .NET.
    uri,              ///< Of .NET.
    date_time_offset, ///< Of .NET.
    encoded,          ///< Any other.
};

/// The value of an application property. `std::monostate` is AMQP's null.
///
/// Integers of all AMQP types but ulong are `std::int64_t`, floats are `double`, symbols are
/// `std::string`. `type` tells the exact type, and a value that was received is sent with it. A
/// timestamp is `WallTime`, or `FarTime` if that cannot hold it.
///
/// Example:
///
///     const PropertyValue price{*Decimal::parse("7.50")};
///     const PropertyValue count{std::int64_t{5}, ValueType::int32};
///     std::cout << std::get<std::int64_t>(count) << '\n';
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class PropertyValue
    : public std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                          WallTime, std::vector<std::byte>, char32_t, Uuid, Decimal, TimeSpan,
                          DateTimeOffset, Uri, FarTime, EncodedValue> {
public:
    using Held = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
                              std::string, WallTime, std::vector<std::byte>, char32_t, Uuid,
                              Decimal, TimeSpan, DateTimeOffset, Uri, FarTime, EncodedValue>;
    using Held::variant;

    PropertyValue() = default;
    // Out of line, because each source that copies one would compile them for all types again.
    PropertyValue(const PropertyValue& other);
    PropertyValue(PropertyValue&& other) noexcept;
    PropertyValue& operator=(const PropertyValue& other);
    PropertyValue& operator=(PropertyValue&& other) noexcept;
    ~PropertyValue();

    /// A value with one of the types that share a C++ type: an integer of a width, a float, a
    /// symbol. Throws `Error{Errc::invalid_argument}` if the value does not fit the type.
    PropertyValue(Held value, ValueType type);

    /// Integers are `int64` or `uint64`, texts `string` and fractions `float64`, unless the value
    /// was made or received with another type.
    [[nodiscard]] ValueType type() const noexcept;

    /// Compares the held values. An int and a long of the same size are equal.
    friend bool operator==(const PropertyValue& left, const PropertyValue& right) noexcept;

private:
    ValueType exactly_{ValueType::null}; // counts if it is a type of the held value
};

} // namespace sessionq
