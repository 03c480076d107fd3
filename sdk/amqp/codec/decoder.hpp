// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

/// Reads encoded AMQP values from untrusted bytes. Accepts every encoding of a type and never reads
/// outside the bytes. A read fails on truncated or unknown values, and on nesting deeper than
/// `deepest`. A failed read does not move the decoder.
class Decoder {
public:
    /// The nesting limit. It bounds the use of the stack; no peer needs more.
    static constexpr int deepest = 32;

    explicit Decoder(std::string_view bytes) noexcept : bytes_{bytes} {}

    [[nodiscard]] std::string_view rest() const noexcept {
        return {bytes_.data() + at_, bytes_.size() - at_};
    }
    [[nodiscard]] std::size_t position() const noexcept { return at_; }
    [[nodiscard]] bool at_end() const noexcept { return at_ == bytes_.size(); }

    /// Returns the next value's constructor code, or nothing at the end.
    [[nodiscard]] std::optional<std::uint8_t> peek_code() const noexcept;

    /// Reads the next value as a tree. Fails if there are more than `most_values` in it.
    [[nodiscard]] std::optional<Value> read(
        std::uint32_t most_values = std::numeric_limits<std::uint32_t>::max());

    /// Steps over the next value and returns its bytes if `read` could read it. Builds no tree.
    [[nodiscard]] std::optional<std::string_view> check();

    /// Steps over the next value and returns its bytes. Looks at its outermost constructor alone.
    [[nodiscard]] std::optional<std::string_view> skip() noexcept;

    // Typed reads without a tree. They fail unless the next value has that type.
    [[nodiscard]] bool read_null() noexcept;
    [[nodiscard]] std::optional<bool> read_boolean() noexcept;
    /// Reads a ubyte, ushort, uint or ulong.
    [[nodiscard]] std::optional<std::uint64_t> read_unsigned() noexcept;
    /// Reads a byte, short, int, long, timestamp, or an unsigned type that fits.
    [[nodiscard]] std::optional<std::int64_t> read_integer() noexcept;
    [[nodiscard]] std::optional<core::Uuid> read_uuid() noexcept;
    /// Reads a binary, string or symbol.
    [[nodiscard]] std::optional<std::string_view> read_bytes() noexcept;

    /// Reads the descriptor of a described value as a number. Fails if the descriptor is not a
    /// number.
    [[nodiscard]] std::optional<std::uint64_t> read_descriptor() noexcept;

    struct Compound {
        std::uint32_t count{0};
        std::string_view items{}; ///< the encoded items, one after another
    };
    [[nodiscard]] std::optional<Compound> read_list() noexcept;
    [[nodiscard]] std::optional<Compound> read_map() noexcept; ///< `count` counts keys and values

private:
    friend class ValueReader; // builds trees

    /// Calls a function that is not inline, with a copy: this decoder can then stay in registers.
    template <typename Read>
    [[nodiscard]] auto rarely(Read read) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> read_long_descriptor() noexcept;
    [[nodiscard]] std::optional<std::uint64_t> read_any_unsigned() noexcept;
    [[nodiscard]] std::optional<std::int64_t> read_any_integer() noexcept;
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
