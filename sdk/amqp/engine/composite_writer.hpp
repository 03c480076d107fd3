#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sessionq::amqp {

/// Writes a composite value of the table in performative.hpp, field by field in their order. Fields
/// that are left out become null: all fields are always written, because strict peers count them.
class CompositeWriter {
public:
    /// Appends to `to`, which is complete after `finish`.
    CompositeWriter(std::string& to, std::uint8_t code);
    CompositeWriter(const CompositeWriter&) = delete;
    CompositeWriter& operator=(const CompositeWriter&) = delete;

    void boolean(std::size_t field, bool value);
    void ubyte(std::size_t field, std::uint8_t value);
    void ushort(std::size_t field, std::uint16_t value);
    void number(std::size_t field, std::uint32_t value);
    void long_number(std::size_t field, std::uint64_t value);
    void string(std::size_t field, std::string_view value) { sized(field, 0xa1, value); }
    void symbol(std::size_t field, std::string_view value) { sized(field, 0xa3, value); }
    void binary(std::size_t field, std::string_view value) { sized(field, 0xa0, value); }
    /// A value that is encoded already. Empty: null.
    void raw(std::size_t field, std::string_view encoded);

    /// Where the next byte will stand, unless the value grows beyond 255 bytes.
    [[nodiscard]] std::size_t position() const noexcept { return to_.size() + used_; }

    void finish();

private:
    void put(std::uint8_t byte) noexcept { buffer_[used_++] = static_cast<char>(byte); }
    /// Fields up to `field` become null. There is room for one of fixed size then.
    void go_to(std::size_t field);
    void sized(std::size_t field, std::uint8_t short_code, std::string_view bytes);
    void flush();

    std::string& to_;
    const std::size_t start_;
    const std::size_t full_count_;
    std::size_t count_{0};
    std::size_t used_{0};
    std::array<char, 96> buffer_;
};

} // namespace sessionq::amqp
