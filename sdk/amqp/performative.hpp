#pragma once

// The fields of a performative as bytes. Internal to amqp/.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sessionq::amqp {

/// Descriptors of the performatives, by their low byte.
struct Performative {
    static constexpr std::uint8_t open = 0x10;
    static constexpr std::uint8_t begin = 0x11;
    static constexpr std::uint8_t attach = 0x12;
    static constexpr std::uint8_t flow = 0x13;
    static constexpr std::uint8_t transfer = 0x14;
    static constexpr std::uint8_t disposition = 0x15;
    static constexpr std::uint8_t detach = 0x16;
    static constexpr std::uint8_t end = 0x17;
    static constexpr std::uint8_t close = 0x18;
    static constexpr std::uint8_t error = 0x1d;
    static constexpr std::uint8_t source = 0x28;
    static constexpr std::uint8_t target = 0x29;
};

/// Returns the number of fields of a composite type in the standard, or zero for an unknown type.
[[nodiscard]] constexpr std::size_t full_count(std::uint8_t code) noexcept {
    switch (code) {
    case Performative::open: return 10;
    case Performative::begin: return 8;
    case Performative::attach: return 14;
    case Performative::flow:
    case Performative::transfer:
    case Performative::source: return 11;
    case Performative::disposition: return 6;
    case Performative::detach:
    case Performative::error: return 3;
    case Performative::end:
    case Performative::close: return 1;
    case Performative::target: return 7;
    default: return 0;
    }
}

/// The encoded fields of a composite value, as views of the bytes it was read from. Their contents
/// are not checked.
class Fields {
public:
    static constexpr std::size_t most = 16;

    /// Returns nothing unless `bytes` begin with a complete described list of at most `most` fields
    /// and a numeric descriptor below 256.
    [[nodiscard]] static std::optional<Fields> read(std::string_view bytes) noexcept;

    [[nodiscard]] std::uint8_t code() const noexcept { return code_; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// The bytes after the list.
    [[nodiscard]] std::string_view payload() const noexcept { return payload_; }

    /// Returns the field's encoded value. An absent field reads as null.
    [[nodiscard]] std::string_view at(std::size_t index) const noexcept;
    [[nodiscard]] bool is_null(std::size_t index) const noexcept {
        return at(index).front() == '\x40';
    }
    /// Returns a uint in any encoding.
    [[nodiscard]] std::optional<std::uint32_t> number(std::size_t index) const noexcept;
    /// Returns a boolean in any encoding, false if absent.
    [[nodiscard]] bool is_true(std::size_t index) const noexcept;
    /// Returns a binary in any encoding.
    [[nodiscard]] std::optional<std::string_view> binary(std::size_t index) const noexcept;

    /// Replaces a field with another encoded value, which must outlive this object.
    void set(std::size_t index, std::string_view value) noexcept;

    /// Appends descriptor and list with all fields of the standard. Nested values are unchanged.
    void write(std::string& to) const;

private:
    bool take(std::uint8_t code, std::uint32_t count, std::string_view items) noexcept;

    std::uint8_t code_{0};
    std::size_t count_{0};
    std::array<std::string_view, most> fields_{};
    std::string_view payload_{};
};

} // namespace sessionq::amqp
