#include "amqp/performative.hpp"

#include <algorithm>
#include <cstring>

namespace sessionq::amqp {
namespace {

constexpr std::string_view null_field{"\x40", 1};
constexpr int deepest_descriptor = 4; // descriptors may be described themselves; nobody does

std::uint8_t byte(std::string_view bytes, std::size_t at) noexcept { return static_cast<std::uint8_t>(bytes[at]); }

std::uint64_t big_endian(std::string_view bytes) noexcept {
    std::uint64_t number = 0;
    for (const char one : bytes) {
        number = number << 8U | static_cast<std::uint8_t>(one);
    }
    return number;
}

/// How long the value is that `bytes` begin with; zero if it is not whole. By its outermost constructor alone.
std::size_t size_of_value(std::string_view bytes, int depth = 0) noexcept {
    if (bytes.empty()) {
        return 0;
    }
    const std::uint8_t code = byte(bytes, 0);
    std::size_t size = 0;
    switch (code >> 4U) {
    case 0x0: {
        if (code != 0 || depth == deepest_descriptor) {
            return 0;
        }
        const std::size_t descriptor = size_of_value(bytes.substr(1), depth + 1);
        const std::size_t value = descriptor == 0 ? 0 : size_of_value(bytes.substr(1 + descriptor), depth + 1);
        return value == 0 ? 0 : 1 + descriptor + value;
    }
    case 0x4: size = 1; break;
    case 0x5: size = 2; break;
    case 0x6: size = 3; break;
    case 0x7: size = 5; break;
    case 0x8: size = 9; break;
    case 0x9: size = 17; break;
    case 0xa:
    case 0xc:
    case 0xe: size = bytes.size() < 2 ? 0 : std::size_t{2} + byte(bytes, 1); break;
    case 0xb:
    case 0xd:
    case 0xf: size = bytes.size() < 5 ? 0 : std::size_t{5} + big_endian(bytes.substr(1, 4)); break;
    default: return 0;
    }
    return size <= bytes.size() ? size : 0;
}

/// Of a ulong; `value` may be nothing.
std::optional<std::uint64_t> descriptor_in(std::string_view value) noexcept {
    if (value.empty()) {
        return std::nullopt;
    }
    switch (byte(value, 0)) {
    case 0x44: return 0;
    case 0x53:
    case 0x80: return big_endian(value.substr(1));
    default: return std::nullopt;
    }
}

} // namespace

std::optional<Fields> Fields::read(std::string_view bytes) noexcept {
    if (bytes.size() < 3 || bytes[0] != '\0') {
        return std::nullopt;
    }
    const std::size_t descriptor = size_of_value(bytes.substr(1));
    const auto code = descriptor_in(bytes.substr(1, descriptor));
    if (!code || *code > 0xff) {
        return std::nullopt;
    }
    const std::string_view list = bytes.substr(1 + descriptor);
    const std::size_t size = size_of_value(list);
    if (size == 0) {
        return std::nullopt;
    }
    Fields fields;
    fields.code_ = static_cast<std::uint8_t>(*code);
    fields.payload_ = list.substr(size);
    std::uint64_t count = 0;
    std::string_view items;
    switch (byte(list, 0)) {
    case 0x45: break;
    case 0xc0:
        if (size < 3) {
            return std::nullopt;
        }
        count = byte(list, 2);
        items = list.substr(3, size - 3);
        break;
    case 0xd0:
        if (size < 9) {
            return std::nullopt;
        }
        count = big_endian(list.substr(5, 4));
        items = list.substr(9, size - 9);
        break;
    default: return std::nullopt;
    }
    if (count > most) {
        return std::nullopt;
    }
    for (; fields.count_ < count; ++fields.count_) {
        const std::size_t length = size_of_value(items);
        if (length == 0) {
            return std::nullopt;
        }
        fields.fields_[fields.count_] = items.substr(0, length);
        items.remove_prefix(length);
    }
    return items.empty() ? std::optional{fields} : std::nullopt;
}

std::string_view Fields::at(std::size_t index) const noexcept { return index < count_ ? fields_[index] : null_field; }

std::optional<std::uint32_t> Fields::number(std::size_t index) const noexcept {
    const std::string_view value = at(index);
    switch (byte(value, 0)) {
    case 0x43: return 0;
    case 0x52:
    case 0x70: return static_cast<std::uint32_t>(big_endian(value.substr(1)));
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
