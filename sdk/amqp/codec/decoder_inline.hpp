// SPDX-License-Identifier: MIT
#pragma once

// Functions of decoder.hpp that run many times per message. They are inline because a call would
// cost more than the work.

#include "amqp/codec/extent.hpp"

namespace sessionq::amqp {

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

inline std::optional<std::string_view> Decoder::skip() noexcept {
    const std::string_view left = rest();
    const std::size_t size = encoded_size(left, deepest);
    at_ += size;
    return size != 0 ? std::optional{std::string_view{left.data(), size}} : std::nullopt;
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
    const auto whole = skip();
    return whole ? std::optional{whole->substr(constructor::has_short_size(*code) ? 2 : 5)}
                 : std::nullopt;
}

inline std::optional<bool> Decoder::read_boolean() noexcept {
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

inline std::optional<std::uint64_t> Decoder::read_unsigned() noexcept {
    const auto code = peek_code();
    if (!code || !constructor::is_unsigned(*code)) {
        return std::nullopt;
    }
    const std::size_t start = at_++;
    const auto number = take_number(*constructor::fixed_width(*code));
    if (!number) {
        at_ = start;
    }
    return number;
}

inline std::optional<std::uint64_t> Decoder::read_descriptor() noexcept {
    const std::string_view left = rest();
    // the form of nearly all descriptors
    if (left.size() >= 3 && left[0] == '\0' && left[1] == '\x53') {
        at_ += 3;
        return static_cast<std::uint8_t>(left[2]);
    }
    return read_long_descriptor();
}

} // namespace sessionq::amqp
