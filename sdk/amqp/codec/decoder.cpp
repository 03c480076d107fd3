#include "amqp/codec/decoder.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace sessionq::amqp {
namespace {

// The upper half of a constructor code says how the value is laid out (part 1, section 1.2 of the standard).
constexpr std::uint8_t layout_of(std::uint8_t code) noexcept { return code >> 4U; }

constexpr std::optional<std::size_t> fixed_width(std::uint8_t code) noexcept {
    switch (layout_of(code)) {
    case 0x4: return 0;
    case 0x5: return 1;
    case 0x6: return 2;
    case 0x7: return 4;
    case 0x8: return 8;
    case 0x9: return 16;
    default: return std::nullopt;
    }
}

constexpr bool is_sized(std::uint8_t code) noexcept { return layout_of(code) == 0xa || layout_of(code) == 0xb; }
constexpr bool is_compound(std::uint8_t code) noexcept { return layout_of(code) == 0xc || layout_of(code) == 0xd; }
constexpr bool is_array(std::uint8_t code) noexcept { return code == 0xe0 || code == 0xf0; }

template <typename To>
To signed_of(std::uint64_t bits) noexcept {
    return static_cast<To>(static_cast<std::make_unsigned_t<To>>(bits));
}

template <typename Float, typename Bits>
Float float_of(std::uint64_t bits) noexcept {
    return std::bit_cast<Float>(static_cast<Bits>(bits));
}

} // namespace

std::optional<std::uint8_t> Decoder::peek_code() const noexcept {
    if (at_end()) {
        return std::nullopt;
    }
    return static_cast<std::uint8_t>(bytes_[at_]);
}

std::optional<std::string_view> Decoder::take(std::size_t count) noexcept {
    if (bytes_.size() - at_ < count) {
        return std::nullopt;
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
}

std::optional<std::uint64_t> Decoder::take_number(std::size_t width) noexcept {
    const auto raw = take(width);
    if (!raw) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    for (const char byte : *raw) {
        number = number << 8U | static_cast<std::uint8_t>(byte);
    }
    return number;
}

std::optional<std::string_view> Decoder::take_sized(std::uint8_t code) noexcept {
    const auto size = take_number(layout_of(code) == 0xa ? 1 : 4);
    return size ? take(*size) : std::nullopt;
}

std::optional<Decoder::Compound> Decoder::take_compound(std::uint8_t code) noexcept {
    const std::size_t width = layout_of(code) == 0xc || layout_of(code) == 0xe ? 1 : 4;
    const auto size = take_number(width);
    if (!size || *size < width) {
        return std::nullopt;
    }
    const auto body = take(*size);
    if (!body) {
        return std::nullopt;
    }
    Decoder inside{*body};
    const auto count = inside.take_number(width);
    return Compound{static_cast<std::uint32_t>(*count), inside.rest()};
}

std::optional<Value> Decoder::read() {
    const std::size_t start = at_;
    auto value = read(0);
    if (!value) {
        at_ = start;
    }
    return value;
}

std::optional<Value> Decoder::read(int depth) {
    const auto code = take_number(1);
    if (!code || depth > deepest) {
        return std::nullopt;
    }
    if (*code != 0) {
        return read_body(static_cast<std::uint8_t>(*code), depth);
    }
    auto descriptor = read(depth + 1);
    auto value = descriptor ? read(depth + 1) : std::nullopt;
    if (!value) {
        return std::nullopt;
    }
    return Value::described(std::move(*descriptor), std::move(*value));
}

std::optional<Value> Decoder::read_body(std::uint8_t code, int depth) {
    if (is_sized(code)) {
        const auto bytes = take_sized(code);
        if (!bytes) {
            return std::nullopt;
        }
        switch (code & 0x0fU) {
        case 0x0: return Value::binary(*bytes);
        case 0x1: return Value{*bytes};
        case 0x3: return Value::symbol(*bytes);
        default: return std::nullopt;
        }
    }
    if (is_array(code)) {
        return read_array(code, depth);
    }
    if (is_compound(code)) {
        const auto compound = take_compound(code);
        const bool is_map = (code & 0x0fU) == 0x1;
        if (!compound || (code & 0x0fU) > 0x1 || (is_map && compound->count % 2 != 0) || compound->count > compound->items.size()) {
            return std::nullopt;
        }
        Decoder inside{compound->items};
        List items;
        items.reserve(compound->count);
        for (std::uint32_t i = 0; i < compound->count; ++i) {
            auto item = inside.read(depth + 1);
            if (!item) {
                return std::nullopt;
            }
            items.push_back(std::move(*item));
        }
        if (!inside.at_end()) {
            return std::nullopt;
        }
        if (!is_map) {
            return Value{std::move(items)};
        }
        Map map;
        map.reserve(items.size() / 2);
        for (std::size_t i = 0; i < items.size(); i += 2) {
            map.emplace_back(std::move(items[i]), std::move(items[i + 1]));
        }
        return Value{std::move(map)};
    }
    const auto width = fixed_width(code);
    if (!width) {
        return std::nullopt;
    }
    if (code == 0x98 || code == 0x94) {
        const auto raw = take(16);
        if (!raw) {
            return std::nullopt;
        }
        if (code == 0x94) {
            return Value{Decimal{code, std::string{*raw}}};
        }
        core::Uuid uuid;
        std::memcpy(uuid.bytes.data(), raw->data(), 16);
        return Value{uuid};
    }
    const auto bits = *width <= 8 ? take_number(*width) : std::nullopt;
    if (!bits) {
        return std::nullopt;
    }
    switch (code) {
    case 0x40: return Value{};
    case 0x41: return Value{true};
    case 0x42: return Value{false};
    case 0x56: return *bits <= 1 ? std::optional{Value{*bits == 1}} : std::nullopt;
    case 0x50: return Value{static_cast<std::uint8_t>(*bits)};
    case 0x60: return Value{static_cast<std::uint16_t>(*bits)};
    case 0x43:
    case 0x52:
    case 0x70: return Value{static_cast<std::uint32_t>(*bits)};
    case 0x44:
    case 0x53:
    case 0x80: return Value{*bits};
    case 0x51: return Value{signed_of<std::int8_t>(*bits)};
    case 0x61: return Value{signed_of<std::int16_t>(*bits)};
    case 0x54: return Value{std::int32_t{signed_of<std::int8_t>(*bits)}};
    case 0x71: return Value{signed_of<std::int32_t>(*bits)};
    case 0x55: return Value{std::int64_t{signed_of<std::int8_t>(*bits)}};
    case 0x81: return Value{signed_of<std::int64_t>(*bits)};
    case 0x72: return Value{float_of<float, std::uint32_t>(*bits)};
    case 0x82: return Value{float_of<double, std::uint64_t>(*bits)};
    case 0x73: return Value{static_cast<char32_t>(*bits)};
    case 0x83: return Value{Timestamp{signed_of<std::int64_t>(*bits)}};
    case 0x74: return Value{Decimal{code, std::string{bytes_.substr(at_ - 4, 4)}}};
    case 0x84: return Value{Decimal{code, std::string{bytes_.substr(at_ - 8, 8)}}};
    case 0x45: return Value{List{}};
    default: return std::nullopt;
    }
}

std::optional<Value> Decoder::read_array(std::uint8_t code, int depth) {
    const auto compound = take_compound(code);
    if (!compound) {
        return std::nullopt;
    }
    Decoder inside{compound->items};
    Array array;
    auto element = inside.take_number(1);
    if (element && *element == 0) {
        auto descriptor = inside.read(depth + 1);
        element = descriptor ? inside.take_number(1) : std::nullopt;
        if (element) {
            array.descriptor = std::make_shared<const Value>(std::move(*descriptor));
        }
    }
    if (!element || *element == 0) {
        return std::nullopt;
    }
    array.element = static_cast<std::uint8_t>(*element);
    // Elements may take no bytes at all; a count beyond the array's own size is then a few bytes asking for gigabytes.
    constexpr std::uint32_t most_empty = 4096;
    if (compound->count > inside.rest().size() && !(fixed_width(array.element) == std::size_t{0} && compound->count <= most_empty)) {
        return std::nullopt;
    }
    array.items.reserve(compound->count);
    for (std::uint32_t i = 0; i < compound->count; ++i) {
        auto item = depth < deepest ? inside.read_body(array.element, depth + 1) : std::nullopt;
        if (!item) {
            return std::nullopt;
        }
        array.items.push_back(std::move(*item));
    }
    if (!inside.at_end()) {
        return std::nullopt;
    }
    return Value{std::move(array)};
}

std::optional<std::string_view> Decoder::skip() noexcept {
    const std::size_t start = at_;
    if (!skip(0)) {
        at_ = start;
        return std::nullopt;
    }
    return bytes_.substr(start, at_ - start);
}

bool Decoder::skip(int depth) noexcept {
    const auto code = take_number(1);
    if (!code || depth > deepest) {
        return false;
    }
    if (*code == 0) {
        return skip(depth + 1) && skip(depth + 1);
    }
    const auto constructor = static_cast<std::uint8_t>(*code);
    if (const auto width = fixed_width(constructor)) {
        return take(*width).has_value();
    }
    if (is_sized(constructor)) {
        return take_sized(constructor).has_value();
    }
    if (is_compound(constructor) || is_array(constructor)) { // its inside is looked at by who asks for it
        return take_compound(constructor).has_value();
    }
    return false;
}

bool Decoder::read_null() noexcept {
    if (peek_code() != std::uint8_t{0x40}) {
        return false;
    }
    ++at_;
    return true;
}

std::optional<bool> Decoder::read_boolean() noexcept {
    const auto code = peek_code();
    if (code == std::uint8_t{0x41} || code == std::uint8_t{0x42}) {
        ++at_;
        return *code == 0x41;
    }
    if (code == std::uint8_t{0x56} && bytes_.size() - at_ >= 2) {
        at_ += 2;
        return bytes_[at_ - 1] != 0;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> Decoder::read_unsigned() noexcept {
    const auto code = peek_code();
    if (!code) {
        return std::nullopt;
    }
    switch (*code) {
    case 0x50:
    case 0x60:
    case 0x43:
    case 0x52:
    case 0x70:
    case 0x44:
    case 0x53:
    case 0x80: break;
    default: return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto number = take_number(*fixed_width(*code));
    if (!number) {
        at_ = start;
    }
    return number;
}

std::optional<std::int64_t> Decoder::read_integer() noexcept {
    const std::size_t start = at_;
    if (const auto number = read_unsigned()) {
        if (*number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return static_cast<std::int64_t>(*number);
        }
        at_ = start;
        return std::nullopt;
    }
    const auto code = peek_code();
    if (!code) {
        return std::nullopt;
    }
    std::size_t width = 0;
    switch (*code) {
    case 0x51:
    case 0x54:
    case 0x55: width = 1; break;
    case 0x61: width = 2; break;
    case 0x71: width = 4; break;
    case 0x81:
    case 0x83: width = 8; break;
    default: return std::nullopt;
    }
    ++at_;
    const auto bits = take_number(width);
    if (!bits) {
        at_ = start;
        return std::nullopt;
    }
    const unsigned unused = static_cast<unsigned>(64 - 8 * width);
    return static_cast<std::int64_t>(*bits << unused) >> unused; // extends the sign
}

std::optional<core::Uuid> Decoder::read_uuid() noexcept {
    if (peek_code() != std::uint8_t{0x98} || bytes_.size() - at_ < 17) {
        return std::nullopt;
    }
    core::Uuid uuid;
    std::memcpy(uuid.bytes.data(), bytes_.data() + at_ + 1, 16);
    at_ += 17;
    return uuid;
}

std::optional<std::string_view> Decoder::read_bytes() noexcept {
    const auto code = peek_code();
    if (!code || !is_sized(*code)) {
        return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto bytes = take_sized(*code);
    if (!bytes) {
        at_ = start;
    }
    return bytes;
}

std::optional<std::uint64_t> Decoder::read_descriptor() noexcept {
    if (peek_code() != std::uint8_t{0x00}) {
        return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto code = read_unsigned();
    if (!code) {
        at_ = start;
    }
    return code;
}

std::optional<Decoder::Compound> Decoder::read_list() noexcept {
    const auto code = peek_code();
    if (code == std::uint8_t{0x45}) {
        ++at_;
        return Compound{};
    }
    if (code != std::uint8_t{0xc0} && code != std::uint8_t{0xd0}) {
        return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto compound = take_compound(*code);
    if (!compound) {
        at_ = start;
    }
    return compound;
}

std::optional<Decoder::Compound> Decoder::read_map() noexcept {
    const auto code = peek_code();
    if (code != std::uint8_t{0xc1} && code != std::uint8_t{0xd1}) {
        return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto compound = take_compound(*code);
    if (!compound) {
        at_ = start;
    }
    return compound;
}

} // namespace sessionq::amqp
