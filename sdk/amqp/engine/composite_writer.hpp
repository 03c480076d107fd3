// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/codec/encoder.hpp"

namespace sessionq::amqp {

/// Writes a composite value of the table in performative.hpp, field by field in their order. Fields
/// that are left out become null: all fields are always written, because strict peers count them.
class CompositeWriter {
public:
    /// Appends to `to`, which is complete after `finish`.
    CompositeWriter(std::string& to, std::uint8_t code);
    CompositeWriter(const CompositeWriter&) = delete;
    CompositeWriter& operator=(const CompositeWriter&) = delete;

    void boolean(std::size_t field, bool value) { at(field).write_boolean(value); }
    void ubyte(std::size_t field, std::uint8_t value) { at(field).write_ubyte(value); }
    void ushort(std::size_t field, std::uint16_t value) { at(field).write_ushort(value); }
    void number(std::size_t field, std::uint32_t value) { at(field).write_uint(value); }
    void long_number(std::size_t field, std::uint64_t value) { at(field).write_ulong(value); }
    void string(std::size_t field, std::string_view value) { at(field).write_string(value); }
    void symbol(std::size_t field, std::string_view value) { at(field).write_symbol(value); }
    void binary(std::size_t field, std::string_view value) { at(field).write_binary(value); }
    /// A value that is encoded already. Empty: null.
    void raw(std::size_t field, std::string_view encoded) {
        if (!encoded.empty()) {
            at(field).put_raw(encoded);
        }
    }

    /// Where the next byte will stand, unless the value grows beyond 255 bytes.
    [[nodiscard]] std::size_t position() const noexcept { return to_.size(); }

    void finish();

private:
    /// Fields up to `field` become null, which is written next.
    [[nodiscard]] Encoder& at(std::size_t field) {
        to_.append(field - count_, '\x40');
        count_ = field + 1;
        return encoder_;
    }

    std::string& to_;
    Encoder encoder_{to_};
    const std::size_t start_;
    const std::size_t full_count_;
    std::size_t count_{0};
};

} // namespace sessionq::amqp
