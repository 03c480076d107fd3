// SPDX-License-Identifier: MIT
#include "amqp/codec/encoder.hpp"

#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "amqp/codec/decoder.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

template <typename Signed>
bool fits_a_byte(Signed value) noexcept {
    return value >= std::numeric_limits<std::int8_t>::min() &&
           value <= std::numeric_limits<std::int8_t>::max();
}

std::string_view view(const core::Uuid& uuid) noexcept {
    return {reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()};
}

} // namespace

void Encoder::put_number(std::uint64_t value, std::size_t width) {
    std::array<char, sizeof value> bytes{};
    core::put_number<sizeof value>(bytes.data(), value);
    to_.append(bytes.data() + bytes.size() - width, width);
}

void Encoder::write_ubyte(std::uint8_t value) {
    put(0x50);
    put(value);
}

void Encoder::write_ushort(std::uint16_t value) {
    put(0x60);
    put_number(value, 2);
}

void Encoder::write_uint(std::uint32_t value) {
    if (value == 0) {
        put(0x43);
    } else if (value <= 0xff) {
        put(0x52);
        put(static_cast<std::uint8_t>(value));
    } else {
        put(0x70);
        put_number(value, 4);
    }
}

void Encoder::write_ulong(std::uint64_t value) {
    if (value == 0) {
        put(0x44);
    } else if (value <= 0xff) {
        put(0x53);
        put(static_cast<std::uint8_t>(value));
    } else {
        put(0x80);
        put_number(value, 8);
    }
}

void Encoder::write_int(std::int32_t value) {
    const bool is_short = fits_a_byte(value);
    put(is_short ? 0x54 : 0x71);
    put_number(static_cast<std::uint32_t>(value), is_short ? 1 : 4);
}

void Encoder::write_long(std::int64_t value) {
    const bool is_short = fits_a_byte(value);
    put(is_short ? 0x55 : 0x81);
    put_number(static_cast<std::uint64_t>(value), is_short ? 1 : 8);
}

void Encoder::write_timestamp(Timestamp value) {
    put(0x83);
    put_number(static_cast<std::uint64_t>(value.milliseconds), 8);
}

void Encoder::write_uuid(const core::Uuid& value) {
    put(0x98);
    put_raw(view(value));
}

void Encoder::write_descriptor(std::uint64_t code) {
    put(0x00);
    if (code <= 0xff) {
        put(0x53);
        put(static_cast<std::uint8_t>(code));
    } else {
        write_ulong(code);
    }
}

void Encoder::write_sized(std::uint8_t short_code, std::string_view bytes) {
    if (bytes.size() <= 0xff) {
        put(short_code);
        put(static_cast<std::uint8_t>(bytes.size()));
    } else {
        put(static_cast<std::uint8_t>(short_code + 0x10));
        put_number(bytes.size(), 4);
    }
    put_raw(bytes);
}

std::size_t Encoder::begin_list() {
    to_.append("\xd0\0\0\0\0\0\0\0\0", 9);
    return to_.size();
}

std::size_t Encoder::begin_map() {
    to_.append("\xd1\0\0\0\0\0\0\0\0", 9);
    return to_.size();
}

void Encoder::end_list(std::size_t begun, std::uint32_t count) {
    core::put_number<4>(to_.data() + begun - 8, to_.size() - begun + 4);
    core::put_number<4>(to_.data() + begun - 4, count);
}

void Encoder::write_compound(std::uint8_t short_code, const Items& items) {
    const bool is_short = items.fit_short_form();
    put(is_short ? short_code : static_cast<std::uint8_t>(short_code + 0x10));
    put_compound(is_short, items);
}

void Encoder::put_compound(bool is_short, const Items& items) {
    const std::size_t width = is_short ? 1 : 4;
    put_number(items.encoded.size() + width, width);
    put_number(items.count, width);
    put_raw(items.encoded);
}

Encoder::Items Encoder::items_of(const List& list) {
    Items items{.count = static_cast<std::uint32_t>(list.size())};
    Encoder inside{items.encoded};
    for (const Value& item : list) {
        inside.write(item);
    }
    return items;
}

Encoder::Items Encoder::items_of(const Map& map) {
    Items items{.count = static_cast<std::uint32_t>(2 * map.size())};
    Encoder inside{items.encoded};
    for (const auto& [key, mapped] : map) {
        inside.write(key);
        inside.write(mapped);
    }
    return items;
}

void Encoder::write(const Value& value) {
    std::visit(
        [this](const auto& held) {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::monostate>) {
                write_null();
            } else if constexpr (std::is_same_v<Held, bool>) {
                write_boolean(held);
            } else if constexpr (std::is_same_v<Held, std::uint8_t>) {
                write_ubyte(held);
            } else if constexpr (std::is_same_v<Held, std::uint16_t>) {
                write_ushort(held);
            } else if constexpr (std::is_same_v<Held, std::uint32_t>) {
                write_uint(held);
            } else if constexpr (std::is_same_v<Held, std::uint64_t>) {
                write_ulong(held);
            } else if constexpr (std::is_same_v<Held, std::int8_t>) {
                put(0x51);
                put(static_cast<std::uint8_t>(held));
            } else if constexpr (std::is_same_v<Held, std::int16_t>) {
                put(0x61);
                put_number(static_cast<std::uint16_t>(held), 2);
            } else if constexpr (std::is_same_v<Held, std::int32_t>) {
                write_int(held);
            } else if constexpr (std::is_same_v<Held, std::int64_t>) {
                write_long(held);
            } else if constexpr (std::is_same_v<Held, float>) {
                put(0x72);
                put_number(std::bit_cast<std::uint32_t>(held), 4);
            } else if constexpr (std::is_same_v<Held, double>) {
                put(0x82);
                put_number(std::bit_cast<std::uint64_t>(held), 8);
            } else if constexpr (std::is_same_v<Held, char32_t>) {
                put(0x73);
                put_number(held, 4);
            } else if constexpr (std::is_same_v<Held, Timestamp>) {
                write_timestamp(held);
            } else if constexpr (std::is_same_v<Held, core::Uuid>) {
                write_uuid(held);
            } else if constexpr (std::is_same_v<Held, Decimal>) {
                put(held.code);
                put_raw(held.bytes);
            } else if constexpr (std::is_same_v<Held, Binary>) {
                write_binary(held.bytes);
            } else if constexpr (std::is_same_v<Held, std::string>) {
                write_string(held);
            } else if constexpr (std::is_same_v<Held, Symbol>) {
                write_symbol(held.text);
            } else if constexpr (std::is_same_v<Held, List>) {
                if (held.empty()) {
                    put(0x45);
                } else {
                    write_compound(0xc0, items_of(held));
                }
            } else if constexpr (std::is_same_v<Held, Map>) {
                write_compound(0xc1, items_of(held));
            } else if constexpr (std::is_same_v<Held, Array>) {
                write_compound(0xe0, items_of(held));
            } else {
                put(0x00);
                write(held->descriptor);
                write(held->value);
            }
        },
        value.held());
}

std::string encode(const Value& value) {
    std::string bytes;
    Encoder{bytes}.write(value);
    return bytes;
}

std::optional<Value> decode(std::string_view bytes) {
    Decoder decoder{bytes};
    auto value = decoder.read();
    return value && decoder.at_end() ? std::move(value) : std::nullopt;
}

} // namespace sessionq::amqp
