// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <ratio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <sessionq/decimal.hpp>
#include <sessionq/time.hpp>
#include <sessionq/uuid.hpp>

namespace sessionq::inline v1 {

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
///
/// Example:
///
///     Message order;
///     order.properties["placed"] = DateTimeOffset{std::chrono::system_clock::now()};
///     order.properties["page"] = Uri{"https://shop.example/orders/7"};
///     order.properties["due"] = FarTime{std::chrono::hours{24} * 365 * 8000};
///     if (const std::optional<Uuid> id = Uuid::parse("6fa459ea-ee8a-3ca4-894e-db77e160355e")) {
///         order.properties["id"] = *id;
///     }
struct DateTimeOffset {
    explicit constexpr DateTimeOffset(TimeSpan since_year_one) noexcept : since{since_year_one} {}
    explicit DateTimeOffset(WallTime time) noexcept;

    TimeSpan since; ///< Counted from the beginning of year 1, UTC.

    /// Nothing if `WallTime` cannot hold it.
    [[nodiscard]] std::optional<WallTime> time() const noexcept;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated zero for a pointer
    friend auto operator<=>(const DateTimeOffset&, const DateTimeOffset&) = default;
};

/// A timestamp that `WallTime` cannot hold, such as one of year 9999.
struct FarTime {
    explicit constexpr FarTime(std::chrono::milliseconds since_1970) noexcept : since{since_1970} {}

    std::chrono::milliseconds since; ///< Counted from the beginning of 1970, UTC.

    friend auto operator<=>(const FarTime&, const FarTime&) = default;
};

/// A value for which sessionq has no type (a list, map, array or described value), in AMQP's
/// encoding.
///
/// Example:
///
///     Message order;
///     order.properties["none"] = EncodedValue{"\x45"}; // AMQP's empty list
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

/// For example "date_time_offset".
[[nodiscard]] std::string_view to_string(ValueType type) noexcept;

/// Writes `to_string(type)`.
std::ostream& operator<<(std::ostream& out, ValueType type);

/// An integer type that a property can have. `bool` and the character types are not among them,
/// because one reader may take a `char` as a character and another as a number.
template <typename T>
concept PropertyInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                          !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                          !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// Types that a `PropertyValue` is made from. Not for applications.
} // namespace sessionq::inline v1

namespace sessionq::detail {

template <typename T>
concept SignedProperty = PropertyInteger<T> && std::signed_integral<T>;

template <typename T>
concept UnsignedProperty = PropertyInteger<T> && std::unsigned_integral<T>;

template <typename T>
concept FractionProperty = std::floating_point<T> && !std::same_as<T, long double>;

template <typename T>
concept ByteOfSpan = std::same_as<std::remove_const_t<T>, std::byte>;

/// The unit of a time that is not `WallTime`.
template <typename T>
concept OtherTimeUnit = !std::same_as<T, WallTime::duration>;

/// A length of time in whole multiples of 100 ns that is not `TimeSpan`.
template <typename T>
concept OtherTimeSpan = std::convertible_to<T, TimeSpan> && !std::same_as<T, TimeSpan> &&
                        std::same_as<T, std::chrono::duration<typename T::rep, typename T::period>>;

} // namespace sessionq::detail

namespace sessionq::inline v1 {

/// A type that `PropertyValue::as` and `ReceivedMessage::property` convert to.
template <typename T>
concept PropertyType = PropertyInteger<T> || std::floating_point<T> || std::same_as<T, bool> ||
    std::same_as<T, std::string> || std::same_as<T, WallTime> ||
    std::same_as<T, std::vector<std::byte>> || std::same_as<T, char32_t> || std::same_as<T, Uuid> ||
    std::same_as<T, Decimal> || std::same_as<T, TimeSpan> || std::same_as<T, DateTimeOffset> ||
    std::same_as<T, Uri> || std::same_as<T, FarTime> || std::same_as<T, EncodedValue>;

/// The value of an application property. `std::monostate` is AMQP's null.
///
/// The variant has fewer types than AMQP. It holds an AMQP ulong as `std::uint64_t`, every other
/// integer as `std::int64_t`, float and double as `double`, and a symbol as `std::string`. It holds
/// a timestamp as `WallTime`, or as `FarTime` if `WallTime` cannot hold it. `type` returns the
/// exact AMQP type. A received value keeps its type if it is sent on.
///
/// You can make a value from every C++ type that has one meaning here. The width of a C++ number
/// does not matter: signed integers become AMQP's long, unsigned integers ulong, `float` and
/// `double` become AMQP's double. For the narrower types use the constructor with a `ValueType`.
///
/// Example:
///
///     Message order = Message::of("placed").in_session("ada");
///     order.properties["lines"] = 5;
///     order.properties["customer"] = std::string_view{"ada"};
///     order.properties["price"] = *Decimal::parse("7.50");
///     order.properties["rank"] = PropertyValue{std::int64_t{5}, ValueType::int32};
///     std::cout << order.properties["lines"].as<int>().value_or(0) << '\n';
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

    /// Null.
    PropertyValue() = default;
    // Not inline. Otherwise each source that copies a value would compile these for all types.
    PropertyValue(const PropertyValue& other);
    PropertyValue(PropertyValue&& other) noexcept;
    PropertyValue& operator=(const PropertyValue& other);
    PropertyValue& operator=(PropertyValue&& other) noexcept;
    ~PropertyValue();

    // NOLINTBEGIN(google-explicit-constructor): `properties["n"] = 5` needs them.

    /// Null.
    PropertyValue(std::monostate null) noexcept;
    /// AMQP's boolean.
    template <std::same_as<bool> T>
    PropertyValue(T truth) noexcept : Held{std::in_place_type<bool>, truth} {}
    /// AMQP's long. Any width is held as `std::int64_t`.
    template <detail::SignedProperty T>
    PropertyValue(T number) noexcept : Held{std::in_place_type<std::int64_t>, number} {}
    /// AMQP's ulong. Any width is held as `std::uint64_t`.
    template <detail::UnsignedProperty T>
    PropertyValue(T number) noexcept : Held{std::in_place_type<std::uint64_t>, number} {}
    /// AMQP's double. A `float` becomes a double without a loss. A `long double` could lose digits,
    /// so there is no conversion from it.
    template <detail::FractionProperty T>
    PropertyValue(T number) noexcept : Held{std::in_place_type<double>, number} {}
    /// AMQP's char, a code point of Unicode.
    template <std::same_as<char32_t> T>
    PropertyValue(T character) noexcept : Held{std::in_place_type<char32_t>, character} {}
    /// `'x'` would become the number 120. Write `"x"` for a text, `U'x'` for a character, and
    /// `int{c}` for a number.
    PropertyValue(char) = delete; // write "x", U'x' or int{c}

    /// AMQP's string: UTF-8 that ends with a zero byte. Not null.
    PropertyValue(const char* text);
    /// AMQP's string: UTF-8, copied.
    PropertyValue(std::string_view text);
    /// AMQP's string: UTF-8.
    PropertyValue(std::string text) noexcept;
    /// A null pointer is not a text. For AMQP's null use `PropertyValue{}`.
    PropertyValue(std::nullptr_t) = delete;

    /// AMQP's binary, copied.
    PropertyValue(std::span<const std::byte> bytes);
    /// AMQP's binary, copied from bytes that may change, or whose number the type tells.
    template <detail::ByteOfSpan Byte, std::size_t Count>
    PropertyValue(std::span<Byte, Count> bytes)
        : PropertyValue{std::span<const std::byte>{bytes}} {}
    /// AMQP's binary.
    PropertyValue(std::vector<std::byte> bytes) noexcept;

    /// AMQP's timestamp, in milliseconds on the wire.
    PropertyValue(WallTime time) noexcept;
    /// AMQP's timestamp, from the system clock in another unit. It is a `FarTime` if `WallTime`
    /// cannot hold it.
    template <detail::OtherTimeUnit Length>
    PropertyValue(std::chrono::time_point<std::chrono::system_clock, Length> time) noexcept
        : PropertyValue{in_reach(std::chrono::floor<std::chrono::milliseconds>(time))
                            ? PropertyValue{std::chrono::floor<WallTime::duration>(time)}
                            : PropertyValue{FarTime{std::chrono::floor<std::chrono::milliseconds>(
                                  time.time_since_epoch())}}} {}
    /// AMQP's timestamp.
    PropertyValue(FarTime time) noexcept;

    /// AMQP's uuid.
    PropertyValue(Uuid uuid) noexcept;
    /// AMQP's decimal32, decimal64 or decimal128, by its width.
    PropertyValue(Decimal number) noexcept;
    /// A length of time of .NET, in units of 100 ns.
    PropertyValue(TimeSpan length) noexcept;
    /// A length of time of .NET, from one in whole multiples of 100 ns. Others must be rounded with
    /// `std::chrono::round<TimeSpan>` or the like.
    template <detail::OtherTimeSpan Length>
    PropertyValue(Length length) noexcept : PropertyValue{TimeSpan{length}} {}
    /// An instant of .NET.
    PropertyValue(DateTimeOffset time) noexcept;
    /// A URI of .NET.
    PropertyValue(Uri uri) noexcept;
    /// A value that is encoded already.
    PropertyValue(EncodedValue value) noexcept;

    // NOLINTEND(google-explicit-constructor)

    /// A value that holds a `T`, constructed in place from `parts`.
    template <typename T, typename... Parts>
    requires std::constructible_from<Held, std::in_place_type_t<T>, Parts...>
    explicit PropertyValue(std::in_place_type_t<T> which, Parts&&... parts)
        : Held{which, std::forward<Parts>(parts)...} {}

    /// A value with an exact AMQP type, where several share a C++ type: an integer of some width, a
    /// float, a symbol. Throws `Error{Errc::invalid_argument}` if `value` does not fit `type`.
    PropertyValue(Held value, ValueType type);

    /// The AMQP type of the value. Unless the value was made or received with another type, an
    /// integer is `int64` or `uint64`, a text is `string` and a fraction is `float64`.
    [[nodiscard]] ValueType type() const noexcept;

    /// The value as a `T`, or nothing if it is of another kind:
    /// - an integer type: from an integer of any AMQP type that `T` can hold,
    /// - `float`, `double`, `long double`: from an integer or a fraction, rounded to the nearest
    ///   value of `T` (a `double` cannot hold every integer above 2^53). Nothing if the number is
    ///   out of the range of `T`,
    /// - `std::string`: from a string or a symbol,
    /// - `bool`, `char32_t`, `WallTime`, `FarTime`, `std::vector<std::byte>`, `Uuid`, `Decimal`,
    ///   `TimeSpan`, `DateTimeOffset`, `Uri`, `EncodedValue`: only from a value that holds this
    ///   type.
    ///
    /// Null gives nothing, whatever `T` is. `bool` and texts never become numbers. Thread safety:
    /// safe to call at the same time.
    template <PropertyType T>
    [[nodiscard]] std::optional<T> as() const& {
        return converted<T>(*this);
    }
    /// The value as a `T`, moved out of a value that is not needed any more. Nothing if it cannot
    /// become a `T`. The conversions are those of `as` on a constant value.
    template <PropertyType T>
    [[nodiscard]] std::optional<T> as() && {
        return converted<T>(std::move(*this));
    }

    /// Compares the held values, not the AMQP types: an int and a long of the same value are equal.
    friend bool operator==(const PropertyValue& left, const PropertyValue& right) noexcept;

private:
    [[nodiscard]] static bool in_reach(
        std::chrono::sys_time<std::chrono::milliseconds> time) noexcept;

    template <typename T, typename Number>
    [[nodiscard]] static std::optional<T> number_as(Number number) noexcept {
        if constexpr (std::integral<T>) {
            return std::in_range<T>(number) ? std::optional{static_cast<T>(number)} : std::nullopt;
        } else {
            using Limits = std::numeric_limits<T>;
            if constexpr (std::floating_point<Number> && sizeof(T) < sizeof(Number)) {
                const bool is_finite = number - number == Number{0}; // not of infinity and NaN
                if (is_finite &&
                    (number > Number{Limits::max()} || number < Number{Limits::lowest()})) {
                    return std::nullopt;
                }
            }
            return static_cast<T>(number);
        }
    }

    template <typename T, typename Value>
    [[nodiscard]] static std::optional<T> converted(Value&& value) {
        if constexpr (PropertyInteger<T> || std::floating_point<T>) {
            if (const auto* number = std::get_if<std::int64_t>(&value)) {
                return number_as<T>(*number);
            }
            if (const auto* number = std::get_if<std::uint64_t>(&value)) {
                return number_as<T>(*number);
            }
            if constexpr (std::floating_point<T>) {
                if (const auto* number = std::get_if<double>(&value)) {
                    return number_as<T>(*number);
                }
            }
            return std::nullopt;
        } else {
            auto* const held = std::get_if<T>(&value);
            if (held == nullptr) {
                return std::nullopt;
            }
            if constexpr (std::is_lvalue_reference_v<Value>) {
                return *held;
            } else {
                return std::move(*held);
            }
        }
    }

    ValueType exactly_{ValueType::null}; // ignored if the held value cannot have this type
};

} // namespace sessionq::inline v1
