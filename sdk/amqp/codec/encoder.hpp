// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

/// Appends encoded AMQP values to a string, each in its most compact form.
class Encoder {
public:
    explicit Encoder(std::string& to) noexcept : to_{to} {}

    void write(const Value& value);

    void write_null() { put(0x40); }
    void write_boolean(bool value) { put(value ? 0x41 : 0x42); }
    void write_ubyte(std::uint8_t value);
    void write_ushort(std::uint16_t value);
    void write_uint(std::uint32_t value);
    void write_ulong(std::uint64_t value);
    void write_int(std::int32_t value);
    void write_long(std::int64_t value);
    void write_timestamp(Timestamp value);
    void write_uuid(const core::Uuid& value);
    void write_binary(std::string_view bytes) { write_sized(0xa0, bytes); }
    void write_string(std::string_view text) { write_sized(0xa1, text); }
    void write_symbol(std::string_view text) { write_sized(0xa3, text); }

    /// Begins a described value. Uses the three-byte form if the code fits, because some peers
    /// accept no other.
    void write_descriptor(std::uint64_t code);

    /// Begins a list. Write its items, then call `end_list` with the result. Lists may nest. Uses
    /// the four-byte form, so that nothing must move later.
    [[nodiscard]] std::size_t begin_list();
    void end_list(std::size_t begun, std::uint32_t count);
    [[nodiscard]] std::size_t begin_map();
    /// `count` counts keys and values.
    void end_map(std::size_t begun, std::uint32_t count) { end_list(begun, count); }

    void put_raw(std::string_view encoded) { to_.append(encoded); }

private:
    void put(std::uint8_t byte) { to_.push_back(static_cast<char>(byte)); }
    void put_number(std::uint64_t value, std::size_t width);
    void write_sized(std::uint8_t short_code, std::string_view bytes);

    /// The contents of a list, a map or an array.
    struct Items {
        std::uint32_t count{0};
        std::string encoded{};
        [[nodiscard]] bool fit_short_form() const noexcept {
            return encoded.size() < 0xff && count <= 0xff;
        }
    };
    [[nodiscard]] static Items items_of(const List& list);
    [[nodiscard]] static Items items_of(const Map& map);
    [[nodiscard]] static Items items_of(const Array& array);
    [[nodiscard]] static Items items_of(const Value& value);
    [[nodiscard]] static bool fits(std::uint8_t code, const Value& element);
    void write_compound(std::uint8_t short_code, const Items& items);
    void put_compound(bool is_short, const Items& items);
    void write_element(std::uint8_t code, const Value& element);

    std::string& to_;
};

/// Encodes one value.
[[nodiscard]] std::string encode(const Value& value);

/// Decodes exactly one value. Returns nothing if bytes are left or malformed.
[[nodiscard]] std::optional<Value> decode(std::string_view bytes);

} // namespace sessionq::amqp
