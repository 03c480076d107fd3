// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "amqp/codec/constructor.hpp"
#include "amqp/codec/decoder.hpp"

// The part of Decoder that builds trees.
namespace sessionq::amqp {

using namespace constructor;

namespace {

template <typename To>
To signed_of(std::uint64_t bits) noexcept {
    return static_cast<To>(static_cast<std::make_unsigned_t<To>>(bits));
}

template <typename Float, typename Bits>
Float float_of(std::uint64_t bits) noexcept {
    return std::bit_cast<Float>(static_cast<Bits>(bits));
}

/// Whether there is a value of fixed width with this code and these bytes.
bool is_fixed(std::uint8_t code, std::string_view raw) noexcept {
    return is_known_fixed(code) && (code != 0x56 || static_cast<std::uint8_t>(raw.front()) <= 1);
}

std::uint64_t bits_of(std::string_view raw) noexcept {
    std::uint64_t bits = 0;
    for (const char byte : raw.substr(0, sizeof bits)) {
        bits = bits << 8U | static_cast<std::uint8_t>(byte);
    }
    return bits;
}

/// A value for which `is_fixed` holds.
Value fixed_value(std::uint8_t code, std::string_view raw) {
    const std::uint64_t bits = bits_of(raw);
    switch (code) {
    case 0x41: return true;
    case 0x42: return false;
    case 0x56: return bits == 1;
    case 0x50: return static_cast<std::uint8_t>(bits);
    case 0x60: return static_cast<std::uint16_t>(bits);
    case 0x43:
    case 0x52:
    case 0x70: return static_cast<std::uint32_t>(bits);
    case 0x44:
    case 0x53:
    case 0x80: return bits;
    case 0x51: return signed_of<std::int8_t>(bits);
    case 0x61: return signed_of<std::int16_t>(bits);
    case 0x54: return std::int32_t{signed_of<std::int8_t>(bits)};
    case 0x71: return signed_of<std::int32_t>(bits);
    case 0x55: return std::int64_t{signed_of<std::int8_t>(bits)};
    case 0x81: return signed_of<std::int64_t>(bits);
    case 0x72: return float_of<float, std::uint32_t>(bits);
    case 0x82: return float_of<double, std::uint64_t>(bits);
    case 0x73: return static_cast<char32_t>(bits);
    case 0x83: return Timestamp{signed_of<std::int64_t>(bits)};
    case 0x74:
    case 0x84:
    case 0x94: return Decimal{code, std::string{raw}};
    case 0x98: {
        core::Uuid uuid;
        std::memcpy(uuid.bytes.data(), raw.data(), uuid.bytes.size());
        return uuid;
    }
    case 0x45: return List{};
    default: return {};
    }
}

/// A binary, string or symbol.
Value bytes_value(std::uint8_t code, std::string_view bytes) {
    switch (code & 0x0fU) {
    case 0x0: return Value::binary(bytes);
    case 0x3: return Value::symbol(bytes);
    default: return bytes;
    }
}

Value to_map(List items) {
    Map map;
    map.reserve(items.size() / 2);
    for (std::size_t i = 0; i < items.size(); i += 2) {
        map.emplace_back(std::move(items[i]), std::move(items[i + 1]));
    }
    return Value{std::move(map)};
}

/// Limits how many elements are reserved ahead. The count is not trusted, and lists nest.
std::size_t reservation(std::uint32_t count) noexcept { return std::min<std::size_t>(count, 64); }

} // namespace

/// The one definition of the values that can be read. Where `into` is null, the value is checked
/// and not built.
class ValueReader {
public:
    explicit ValueReader(std::uint32_t most_values) noexcept : values_{most_values} {}

    [[nodiscard]] bool read(Decoder& from, int depth, Value* into);

private:
    [[nodiscard]] bool read_body(Decoder& from, std::uint8_t code, int depth, Value* into);
    [[nodiscard]] bool read_items(Decoder& from, std::uint8_t code, int depth, Value* into);
    [[nodiscard]] bool read_array(Decoder& from, std::uint8_t code, int depth, Value* into);

    static constexpr int deepest = Decoder::deepest;

    std::uint32_t values_; ///< as many may still come, in the whole tree
    /// The same of zero-size elements in all its arrays. Otherwise a few bytes could demand
    /// gigabytes.
    std::uint32_t empty_elements_{4096};
};

std::optional<Value> Decoder::read(std::uint32_t most_values) {
    const std::size_t start = at_;
    std::optional<Value> value{std::in_place};
    if (!ValueReader{most_values}.read(*this, 0, &*value)) {
        at_ = start;
        value.reset();
    }
    return value;
}

std::optional<std::string_view> Decoder::check() {
    const std::size_t start = at_;
    if (!ValueReader{std::numeric_limits<std::uint32_t>::max()}.read(*this, 0, nullptr)) {
        at_ = start;
        return std::nullopt;
    }
    return bytes_.substr(start, at_ - start);
}

bool ValueReader::read(Decoder& from, int depth, Value* into) {
    const auto code = from.take_number(1);
    if (!code || depth > deepest || values_ == 0) {
        return false;
    }
    --values_;
    if (*code != 0) {
        return read_body(from, static_cast<std::uint8_t>(*code), depth, into);
    }
    if (into == nullptr) {
        return read(from, depth + 1, nullptr) && read(from, depth + 1, nullptr);
    }
    Value descriptor;
    Value value;
    if (!read(from, depth + 1, &descriptor) || !read(from, depth + 1, &value)) {
        return false;
    }
    *into = Value::described(std::move(descriptor), std::move(value));
    return true;
}

bool ValueReader::read_body(Decoder& from, std::uint8_t code, int depth, Value* into) {
    if (is_sized(code)) {
        const auto bytes = from.take_sized(code);
        if (!bytes || !is_bytes(code)) {
            return false;
        }
        if (into != nullptr) {
            *into = bytes_value(code, *bytes);
        }
        return true;
    }
    if (is_array(code)) {
        return read_array(from, code, depth, into);
    }
    if (is_compound(code)) {
        return read_items(from, code, depth, into);
    }
    const auto width = fixed_width(code);
    const auto raw = width ? from.take(*width) : std::nullopt;
    if (!raw || !is_fixed(code, *raw)) {
        return false;
    }
    if (into != nullptr) {
        *into = fixed_value(code, *raw);
    }
    return true;
}

bool ValueReader::read_items(Decoder& from, std::uint8_t code, int depth, Value* into) {
    const auto compound = from.take_compound(code);
    const bool is_map = (code & 0x0fU) == 0x1;
    if (!compound || (code & 0x0fU) > 0x1 || (is_map && compound->count % 2 != 0) ||
        compound->count > std::min<std::size_t>(compound->items.size(), values_)) {
        return false;
    }
    Decoder inside{compound->items};
    List items;
    if (into != nullptr) {
        items.reserve(reservation(compound->count));
    }
    for (std::uint32_t i = 0; i < compound->count; ++i) {
        if (!read(inside, depth + 1, into != nullptr ? &items.emplace_back() : nullptr)) {
            return false;
        }
    }
    if (!inside.at_end()) {
        return false;
    }
    if (into != nullptr) {
        *into = is_map ? to_map(std::move(items)) : Value{std::move(items)};
    }
    return true;
}

bool ValueReader::read_array(Decoder& from, std::uint8_t code, int depth, Value* into) {
    const auto compound = from.take_compound(code);
    if (!compound) {
        return false;
    }
    Decoder inside{compound->items};
    Array array;
    auto element = inside.take_number(1);
    if (element && *element == 0) {
        Value descriptor;
        if (!read(inside, depth + 1, into != nullptr ? &descriptor : nullptr)) {
            return false;
        }
        element = inside.take_number(1);
        if (into != nullptr) {
            array.descriptor = std::make_shared<const Value>(std::move(descriptor));
        }
    }
    if (!element || *element == 0) {
        return false;
    }
    array.element = static_cast<std::uint8_t>(*element);
    if (fixed_width(array.element) == std::size_t{0}) {
        if (compound->count > empty_elements_) {
            return false;
        }
        empty_elements_ -= compound->count;
    } else if (compound->count > inside.rest().size()) {
        return false;
    }
    if (compound->count > values_ || (compound->count != 0 && depth >= deepest)) {
        return false;
    }
    values_ -= compound->count;
    if (into != nullptr) {
        array.items.reserve(reservation(compound->count));
    }
    for (std::uint32_t i = 0; i < compound->count; ++i) {
        if (!read_body(inside, array.element, depth + 1,
                       into != nullptr ? &array.items.emplace_back() : nullptr)) {
            return false;
        }
    }
    if (!inside.at_end()) {
        return false;
    }
    if (into != nullptr) {
        *into = Value{std::move(array)};
    }
    return true;
}

} // namespace sessionq::amqp
