// SPDX-License-Identifier: MIT
#include <sessionq/property_value.hpp>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <sessionq/error.hpp>

namespace sessionq::inline v1 {
namespace {

/// Between the beginnings of the years 1 and 1970, UTC.
constexpr TimeSpan year_one_to_epoch{621'355'968'000'000'000};

template <typename Integer>
bool fits(std::int64_t number) noexcept {
    return std::in_range<Integer>(number);
}

/// The type of a value that nothing else is known of.
ValueType usual_type(const PropertyValue::Held& value) noexcept {
    return std::visit(
        [](const auto& held) {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::monostate>) {
                return ValueType::null;
            } else if constexpr (std::is_same_v<Held, bool>) {
                return ValueType::boolean;
            } else if constexpr (std::is_same_v<Held, std::int64_t>) {
                return ValueType::int64;
            } else if constexpr (std::is_same_v<Held, std::uint64_t>) {
                return ValueType::uint64;
            } else if constexpr (std::is_same_v<Held, double>) {
                return ValueType::float64;
            } else if constexpr (std::is_same_v<Held, std::string>) {
                return ValueType::string;
            } else if constexpr (std::is_same_v<Held, std::vector<std::byte>>) {
                return ValueType::binary;
            } else if constexpr (std::is_same_v<Held, char32_t>) {
                return ValueType::character;
            } else if constexpr (std::is_same_v<Held, Uuid>) {
                return ValueType::uuid;
            } else if constexpr (std::is_same_v<Held, Decimal>) {
                return held.width() == Decimal::Width::bits32   ? ValueType::decimal32
                       : held.width() == Decimal::Width::bits64 ? ValueType::decimal64
                                                                : ValueType::decimal128;
            } else if constexpr (std::is_same_v<Held, TimeSpan>) {
                return ValueType::time_span;
            } else if constexpr (std::is_same_v<Held, DateTimeOffset>) {
                return ValueType::date_time_offset;
            } else if constexpr (std::is_same_v<Held, Uri>) {
                return ValueType::uri;
            } else if constexpr (std::is_same_v<Held, EncodedValue>) {
                return ValueType::encoded;
            } else { // WallTime, FarTime
                return ValueType::timestamp;
            }
        },
        value);
}

/// Whether a value may be sent with a type that is not its usual one.
bool may_have(const PropertyValue::Held& value, ValueType type) noexcept {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        switch (type) {
        case ValueType::uint8: return fits<std::uint8_t>(*number);
        case ValueType::uint16: return fits<std::uint16_t>(*number);
        case ValueType::uint32: return fits<std::uint32_t>(*number);
        case ValueType::int8: return fits<std::int8_t>(*number);
        case ValueType::int16: return fits<std::int16_t>(*number);
        case ValueType::int32: return fits<std::int32_t>(*number);
        default: return false;
        }
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return type == ValueType::float32 &&
               (!std::isfinite(*number) ||
                (std::abs(*number) <= double{std::numeric_limits<float>::max()} &&
                 static_cast<double>(static_cast<float>(*number)) == *number));
    }
    return type == ValueType::symbol && std::holds_alternative<std::string>(value);
}

} // namespace

DateTimeOffset::DateTimeOffset(WallTime time) noexcept
    : since{std::chrono::floor<TimeSpan>(time.time_since_epoch()) + year_one_to_epoch} {}

std::optional<WallTime> DateTimeOffset::time() const noexcept {
    constexpr TimeSpan first =
        std::chrono::ceil<TimeSpan>(WallTime::min().time_since_epoch()) + year_one_to_epoch;
    constexpr TimeSpan last =
        std::chrono::floor<TimeSpan>(WallTime::max().time_since_epoch()) + year_one_to_epoch;
    return since >= first && since <= last ? std::optional{WallTime{since - year_one_to_epoch}}
                                           : std::nullopt;
}

PropertyValue::PropertyValue(const PropertyValue& other) = default;
PropertyValue::PropertyValue(PropertyValue&& other) noexcept = default;
PropertyValue& PropertyValue::operator=(const PropertyValue& other) = default;
PropertyValue& PropertyValue::operator=(PropertyValue&& other) noexcept = default;
PropertyValue::~PropertyValue() = default;

PropertyValue::PropertyValue(std::monostate /*null*/) noexcept {}
PropertyValue::PropertyValue(const char* text) : Held{std::in_place_type<std::string>, text} {}
PropertyValue::PropertyValue(std::string_view text) : Held{std::in_place_type<std::string>, text} {}
PropertyValue::PropertyValue(std::string text) noexcept : Held{std::move(text)} {}
PropertyValue::PropertyValue(std::span<const std::byte> bytes)
    : Held{std::in_place_type<std::vector<std::byte>>, bytes.begin(), bytes.end()} {}
PropertyValue::PropertyValue(std::vector<std::byte> bytes) noexcept : Held{std::move(bytes)} {}
PropertyValue::PropertyValue(WallTime time) noexcept : Held{time} {}
PropertyValue::PropertyValue(FarTime time) noexcept : Held{time} {}
PropertyValue::PropertyValue(Uuid uuid) noexcept : Held{uuid} {}
PropertyValue::PropertyValue(Decimal number) noexcept : Held{number} {}
PropertyValue::PropertyValue(TimeSpan length) noexcept : Held{length} {}
PropertyValue::PropertyValue(DateTimeOffset time) noexcept : Held{time} {}
PropertyValue::PropertyValue(Uri uri) noexcept : Held{std::move(uri)} {}
PropertyValue::PropertyValue(EncodedValue value) noexcept : Held{std::move(value)} {}

bool PropertyValue::in_reach(std::chrono::sys_time<std::chrono::milliseconds> time) noexcept {
    using std::chrono::milliseconds;
    return time > std::chrono::ceil<milliseconds>(WallTime::min()) &&
           time < std::chrono::floor<milliseconds>(WallTime::max());
}

bool operator==(const PropertyValue& left, const PropertyValue& right) noexcept {
    return static_cast<const PropertyValue::Held&>(left) ==
           static_cast<const PropertyValue::Held&>(right);
}

PropertyValue::PropertyValue(Held value, ValueType type) : Held{std::move(value)}, exactly_{type} {
    if (type != usual_type(*this) && !may_have(*this, type)) {
        throw Error{Errc::invalid_argument, "the value of a property does not fit its type"};
    }
}

ValueType PropertyValue::type() const noexcept {
    return may_have(*this, exactly_) ? exactly_ : usual_type(*this);
}

} // namespace sessionq::inline v1
