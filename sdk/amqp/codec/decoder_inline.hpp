#pragma once

// What of decoder.hpp is asked many times for every message: inline, since calls would cost more than what they do.

#include "amqp/codec/constructor.hpp"

namespace sessionq::amqp {

template <std::size_t Width>
inline std::uint64_t Decoder::number_at(const char* from) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < Width; ++i) { // one load and one swap, as compilers see it
        number = number << 8U | static_cast<std::uint8_t>(from[i]);
    }
    return number;
}

inline std::optional<std::uint8_t> Decoder::peek_code() const noexcept {
    return at_end() ? std::nullopt : std::optional{static_cast<std::uint8_t>(bytes_[at_])};
}

inline std::optional<std::string_view> Decoder::take(std::size_t count) noexcept {
    if (bytes_.size() - at_ < count) {
        return std::nullopt;
    }
    const std::string_view taken{bytes_.data() + at_, count};
    at_ += count;
    return taken;
}

inline std::optional<std::uint64_t> Decoder::take_number(std::size_t width) noexcept {
    const auto raw = take(width);
    if (!raw) {
        return std::nullopt;
    }
    switch (width) {
    case 0: return 0;
    case 1: return number_at<1>(raw->data());
    case 2: return number_at<2>(raw->data());
    case 4: return number_at<4>(raw->data());
    default: return number_at<8>(raw->data());
    }
}

inline std::optional<std::string_view> Decoder::take_sized(std::uint8_t code) noexcept {
    const auto size = take_number(constructor::has_short_size(code) ? 1 : 4);
    return size ? take(*size) : std::nullopt;
}

inline bool Decoder::skip(int depth) noexcept {
    using namespace constructor;
    const auto code = peek_code();
    if (!code || depth > deepest) {
        return false;
    }
    ++at_;
    if (*code == 0) {
        return skip_described(depth);
    }
    if (const auto width = fixed_width(*code)) {
        return take(*width).has_value();
    }
    if (is_sized(*code)) {
        return take_sized(*code).has_value();
    }
    // The inside of a list, map or array is looked at by who asks for it; but room for its count it has.
    const auto inside = is_compound(*code) || is_array(*code) ? take_sized(*code) : std::nullopt;
    return inside && inside->size() >= (has_short_size(*code) ? 1U : 4U);
}

inline std::optional<std::string_view> Decoder::skip() noexcept {
    const std::size_t start = at_;
    if (!skip(0)) {
        at_ = start;
        return std::nullopt;
    }
    return std::string_view{bytes_.data() + start, at_ - start};
}

inline bool Decoder::read_null() noexcept {
    if (peek_code() != std::uint8_t{0x40}) {
        return false;
    }
    ++at_;
    return true;
}

inline std::optional<std::string_view> Decoder::read_bytes() noexcept {
    const auto code = peek_code();
    if (!code || !constructor::is_bytes(*code)) {
        return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto bytes = take_sized(*code);
    if (!bytes) {
        at_ = start;
    }
    return bytes;
}

inline std::optional<std::uint64_t> Decoder::read_descriptor() noexcept {
    const std::string_view left = rest();
    if (left.size() >= 3 && left[0] == '\0' && left[1] == '\x53') { // as nearly all are
        at_ += 3;
        return static_cast<std::uint8_t>(left[2]);
    }
    return read_long_descriptor();
}

} // namespace sessionq::amqp
