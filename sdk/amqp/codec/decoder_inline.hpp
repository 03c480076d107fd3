// SPDX-License-Identifier: MIT
#pragma once

// Functions of decoder.hpp that run many times per message. They are inline because a call would
// cost more than the work.

#include "amqp/codec/extent.hpp"

namespace sessionq::amqp {

template <typename Read>
auto Decoder::rarely(Read read) noexcept {
    Decoder copy = *this;
    const auto value = read(copy);
    at_ = copy.at_;
    return value;
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
    const std::string_view left = rest();
    const std::uint8_t code = peek_code().value_or(0);
    const std::size_t whole = constructor::is_bytes(code) ? encoded_size(left, 0) : 0;
    at_ += whole;
    return bytes_in({left.data(), whole});
}

inline std::optional<std::int64_t> Decoder::read_integer() noexcept {
    const auto code = peek_code();
    // the form of timestamps and sequence numbers
    if ((code == std::uint8_t{0x83} || code == std::uint8_t{0x81}) && bytes_.size() - at_ >= 9) {
        at_ += 9;
        return static_cast<std::int64_t>(number_at<8>(bytes_.data() + at_ - 8));
    }
    return rarely([](Decoder& copy) { return copy.read_any_integer(); });
}

inline std::optional<bool> Decoder::read_boolean() noexcept {
    const auto code = peek_code();
    if (code == std::uint8_t{0x41} || code == std::uint8_t{0x42}) {
        ++at_;
        return *code == 0x41;
    }
    const std::string_view left = rest();
    if (left.size() >= 2 && left[0] == '\x56' && static_cast<std::uint8_t>(left[1]) <= 1) {
        at_ += 2;
        return left[1] != 0;
    }
    return std::nullopt;
}

inline std::optional<std::uint64_t> Decoder::read_unsigned() noexcept {
    const std::string_view left = rest();
    // the forms of most numbers: ubyte, uint, and the short ones of uint and ulong
    if (left.size() >= 2 && (left[0] == '\x50' || left[0] == '\x52' || left[0] == '\x53')) {
        at_ += 2;
        return static_cast<std::uint8_t>(left[1]);
    }
    if (left.size() >= 5 && left[0] == '\x70') {
        at_ += 5;
        return number_at<4>(left.data() + 1);
    }
    if (!left.empty() && (left[0] == '\x43' || left[0] == '\x44')) {
        ++at_;
        return 0;
    }
    return rarely([](Decoder& copy) { return copy.read_any_unsigned(); });
}

inline Decoder::Compound Decoder::compound_in(std::string_view body, std::size_t width) noexcept {
    const std::uint64_t count = width == 1 ? number_at<1>(body.data()) : number_at<4>(body.data());
    return {static_cast<std::uint32_t>(count), {body.data() + width, body.size() - width}};
}

inline std::optional<Decoder::Compound> Decoder::read_compound(std::uint8_t short_code) noexcept {
    const std::string_view left = rest();
    const std::uint8_t code = peek_code().value_or(0);
    if (code != short_code && code != static_cast<std::uint8_t>(short_code + 0x10)) {
        return std::nullopt;
    }
    const std::size_t whole = encoded_size(left, 0);
    if (whole == 0) {
        return std::nullopt;
    }
    at_ += whole;
    const std::size_t width = code == short_code ? 1 : 4;
    return compound_in({left.data() + 1 + width, whole - 1 - width}, width);
}

inline std::optional<Decoder::Compound> Decoder::read_list() noexcept {
    if (peek_code() == std::uint8_t{0x45}) {
        ++at_;
        return Compound{};
    }
    return read_compound(0xc0);
}

inline std::optional<Decoder::Compound> Decoder::read_map() noexcept { return read_compound(0xc1); }

inline std::optional<std::uint64_t> Decoder::read_descriptor() noexcept {
    const std::string_view left = rest();
    // the form of nearly all descriptors
    if (left.size() >= 3 && left[0] == '\0' && left[1] == '\x53') {
        at_ += 3;
        return static_cast<std::uint8_t>(left[2]);
    }
    return rarely([](Decoder& copy) { return copy.read_long_descriptor(); });
}

} // namespace sessionq::amqp
