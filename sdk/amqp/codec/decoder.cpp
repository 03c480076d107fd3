// SPDX-License-Identifier: MIT
#include "amqp/codec/decoder.hpp"

#include <cstring>
#include <limits>

#include "amqp/codec/constructor.hpp"

namespace sessionq::amqp {

using namespace constructor;

std::optional<std::string_view> Decoder::take_sized(std::uint8_t code) noexcept {
    const auto size = take_number(has_short_size(code) ? 1 : 4);
    return size ? take(*size) : std::nullopt;
}

std::optional<Decoder::Compound> Decoder::take_compound(std::uint8_t code) noexcept {
    const std::size_t width = has_short_size(code) ? 1 : 4;
    const auto body = take_sized(code);
    return body && body->size() >= width ? std::optional{compound_in(*body, width)} : std::nullopt;
}

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

std::optional<std::uint64_t> Decoder::read_any_unsigned() noexcept {
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

std::optional<std::int64_t> Decoder::read_any_integer() noexcept {
    const auto code = peek_code();
    const std::size_t start = at_;
    if (!code || !is_signed(*code)) {
        const auto number = read_unsigned();
        if (number &&
            *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            at_ = start;
            return std::nullopt;
        }
        return number ? std::optional{static_cast<std::int64_t>(*number)} : std::nullopt;
    }
    const std::size_t width = *fixed_width(*code);
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

} // namespace sessionq::amqp
