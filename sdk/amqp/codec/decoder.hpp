#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

/// Reads encoded AMQP values from bytes that nobody has checked: every encoding of a type is
/// understood, nothing outside the bytes is ever read. What is truncated, unknown or nested deeper
/// than `deepest` fails; a reader that has failed stays where it was.
class Decoder {
public:
    /// Nesting beyond this is refused: no peer needs it, and the stack is finite.
    static constexpr int deepest = 32;

    explicit Decoder(std::string_view bytes) noexcept : bytes_{bytes} {}

    [[nodiscard]] std::string_view rest() const noexcept {
        return {bytes_.data() + at_, bytes_.size() - at_};
    }
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    [[nodiscard]] bool at_end() const noexcept { return at_ == bytes_.size(); }

    /// The next value's constructor code; nothing at the end.
    [[nodiscard]] std::optional<std::uint8_t> peek_code() const noexcept;

    /// The next value as a tree.
    [[nodiscard]] std::optional<Value> read();

    /// Walks over the next value, checking that it is whole; answers with its bytes.
    [[nodiscard]] std::optional<std::string_view> skip() noexcept;

    // Typed reads without a tree. Each fails, and moves nothing, unless the next value is of that type.
    [[nodiscard]] bool read_null() noexcept;
    [[nodiscard]] std::optional<bool> read_boolean() noexcept;
    /// ubyte, ushort, uint or ulong.
    [[nodiscard]] std::optional<std::uint64_t> read_unsigned() noexcept;
    /// byte, short, int, long, timestamp, or an unsigned type that fits.
    [[nodiscard]] std::optional<std::int64_t> read_integer() noexcept;
    [[nodiscard]] std::optional<core::Uuid> read_uuid() noexcept;
    /// Binary, string or symbol.
    [[nodiscard]] std::optional<std::string_view> read_bytes() noexcept;

    /// The mark that a described value follows, and its descriptor as a code; nothing, and no move,
    /// if the descriptor is not a number.
    [[nodiscard]] std::optional<std::uint64_t> read_descriptor() noexcept;

    struct Compound {
        std::uint32_t count{0};
        std::string_view items{}; ///< encoded one after another
    };
    [[nodiscard]] std::optional<Compound> read_list() noexcept;
    [[nodiscard]] std::optional<Compound> read_map() noexcept; ///< `count` counts keys and values

private:
    /// What one tree may still cost beyond its bytes: elements that take none, of all its arrays
    /// together. Without it, a few bytes ask for gigabytes.
    struct Allowance {
        std::uint32_t empty_elements{4096};
    };

    [[nodiscard]] std::optional<Value> read(int depth, Allowance& allowance);
    [[nodiscard]] std::optional<Value> read_body(std::uint8_t code, int depth,
                                                 Allowance& allowance);
    [[nodiscard]] std::optional<Value> read_array(std::uint8_t code, int depth,
                                                  Allowance& allowance);
    [[nodiscard]] std::optional<std::uint64_t> read_long_descriptor() noexcept;
    [[nodiscard]] std::optional<std::string_view> take(std::size_t count) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> take_number(std::size_t width) noexcept;
    [[nodiscard]] std::optional<std::string_view> take_sized(std::uint8_t code) noexcept;
    [[nodiscard]] std::optional<Compound> take_compound(std::uint8_t code) noexcept;
    [[nodiscard]] std::optional<Compound> read_compound(std::uint8_t short_code) noexcept;
    [[nodiscard]] static Compound compound_in(std::string_view body, std::size_t width) noexcept;

    std::string_view bytes_;
    std::size_t at_{0};
};

} // namespace sessionq::amqp

#include "amqp/codec/decoder_inline.hpp"
