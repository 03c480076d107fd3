#include "amqp/performative.hpp"

#include <algorithm>
#include <cstring>

#include "amqp/codec/decoder.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::string_view null_field{"\x40", 1};

std::uint8_t byte(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<std::uint8_t>(bytes[at]);
}

} // namespace

std::optional<Fields> Fields::read(std::string_view bytes) noexcept {
    std::optional<Fields> made; // filled in place, because it is large
    Decoder decoder{bytes};
    const auto code = decoder.read_descriptor();
    const auto list = code && *code <= 0xff ? decoder.read_list() : std::nullopt;
    if (list && !made.emplace().take(static_cast<std::uint8_t>(*code), list->count, list->items)) {
        made.reset();
    } else if (list) {
        made->payload_ = decoder.rest();
    }
    return made;
}

bool Fields::take(std::uint8_t code, std::uint32_t count, std::string_view items) noexcept {
    if (count > most) {
        return false;
    }
    code_ = code;
    Decoder decoder{items};
    for (; count_ < count; ++count_) {
        const auto field = decoder.skip();
        if (!field) {
            return false;
        }
        fields_[count_] = *field;
    }
    return decoder.at_end();
}

std::string_view Fields::at(std::size_t index) const noexcept {
    return index < count_ ? fields_[index] : null_field;
}

std::optional<std::uint32_t> Fields::number(std::size_t index) const noexcept {
    const std::string_view value = at(index);
    switch (byte(value, 0)) {
    case 0x43: return 0;
    case 0x52: return byte(value, 1);
    case 0x70: return static_cast<std::uint32_t>(number_at<4>(value.data() + 1));
    default: return std::nullopt;
    }
}

bool Fields::is_true(std::size_t index) const noexcept {
    const std::string_view value = at(index);
    return value.front() == '\x41' || (value.front() == '\x56' && value[1] != '\0');
}

std::optional<std::string_view> Fields::binary(std::size_t index) const noexcept {
    const std::string_view value = at(index);
    switch (byte(value, 0)) {
    case 0xa0: return value.substr(2);
    case 0xb0: return value.substr(5);
    default: return std::nullopt;
    }
}

void Fields::set(std::size_t index, std::string_view value) noexcept {
    while (count_ <= index) {
        fields_[count_++] = null_field;
    }
    fields_[index] = value;
}

void Fields::write(std::string& to) const {
    const std::size_t count = std::max(count_, full_count(code_));
    std::size_t size = count - count_;
    for (std::size_t i = 0; i < count_; ++i) {
        size += fields_[i].size();
    }
    const bool is_short = size + 1 <= 0xff;
    const std::size_t start = to.size();
    to.resize(start + 3 + (is_short ? 3 : 9) + size);
    char* at = to.data() + start;
    const auto put = [&](std::size_t one) { *at++ = static_cast<char>(one); };
    put(0x00);
    put(0x53);
    put(code_);
    if (is_short) {
        put(0xc0);
        put(size + 1);
        put(count);
    } else {
        put(0xd0);
        for (const std::size_t number : {size + 4, count}) {
            for (unsigned shift = 32; shift != 0;) {
                shift -= 8;
                put(number >> shift);
            }
        }
    }
    for (std::size_t i = 0; i < count_; ++i) {
        std::memcpy(at, fields_[i].data(), fields_[i].size());
        at += fields_[i].size();
    }
    std::memset(at, 0x40, count - count_);
}

} // namespace sessionq::amqp
