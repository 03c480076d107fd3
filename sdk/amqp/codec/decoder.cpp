#include "amqp/codec/decoder.hpp"

#include <cstring>
#include <limits>

#include "amqp/codec/constructor.hpp"

namespace sessionq::amqp {

using namespace constructor;

std::optional<Decoder::Compound> Decoder::take_compound(std::uint8_t code) noexcept {
    const std::size_t width = has_short_size(code) ? 1 : 4;
    const auto body = take_sized(code);
    if (!body || body->size() < width) {
        return std::nullopt;
    }
    Decoder inside{*body};
    const auto count = inside.take_number(width);
    return Compound{static_cast<std::uint32_t>(*count), inside.rest()};
}

bool Decoder::skip_described(int depth) noexcept { return skip(depth + 1) && skip(depth + 1); }

std::optional<std::uint64_t> Decoder::read_long_descriptor() noexcept {
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
    if (!code || !is_unsigned(*code)) {
        return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto number = take_number(*fixed_width(*code));
    if (!number) {
        at_ = start;
    }
    return number;
}

std::optional<std::int64_t> Decoder::read_integer() noexcept {
    const auto code = peek_code();
    if (!code || (!is_signed(*code) && !is_unsigned(*code))) {
        return std::nullopt;
    }
    const std::size_t width = *fixed_width(*code);
    const std::size_t start = at_++;
    const auto bits = take_number(width);
    const bool is_beyond = is_unsigned(*code) && bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!bits || is_beyond) {
        at_ = start;
        return std::nullopt;
    }
    if (is_unsigned(*code)) {
        return static_cast<std::int64_t>(*bits);
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
