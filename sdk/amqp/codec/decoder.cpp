#include "amqp/codec/decoder.hpp"

#include <cstring>
#include <limits>

#include "amqp/codec/constructor.hpp"

namespace sessionq::amqp {

using namespace constructor;

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
    if (!code || !is_bytes(*code)) {
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
