// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/condition.hpp"

namespace sessionq::amqp {

/// The delivery states of AMQP 1.0 part 3, section 4, and part 4, section 5.8, by the low byte of
/// their descriptors.
enum class OutcomeKind : std::uint8_t {
    none = 0,
    received = 0x23,
    accepted = 0x24,
    rejected = 0x25,
    released = 0x26,
    modified = 0x27,
    transactional = 0x34,
    other = 0xff
};

/// One side's state of a delivery.
struct Outcome {
    OutcomeKind kind{OutcomeKind::none};
    Condition error{};              ///< for rejected
    bool delivery_failed{false};    ///< for modified
    bool undeliverable_here{false}; ///< for modified
    std::string annotations{};      ///< for modified: an encoded map, or empty

    /// The kind alone, of an encoded state. Empty: none.
    [[nodiscard]] static OutcomeKind kind_of(std::string_view encoded) noexcept;
    /// Reads an encoded state. A state that breaks the rules of its type reads as its kind alone.
    [[nodiscard]] static Outcome read(std::string_view encoded);
    /// Appends the encoded outcome; nothing for a state that is none.
    void write(std::string& to) const;
    /// It is an outcome, not a state on the way there.
    [[nodiscard]] bool is_final() const noexcept;
    /// The same without annotations, and with an error that is shortened to at most `most` bytes.
    [[nodiscard]] Outcome without_details(std::size_t most) const;
    /// There is nothing to say but the kind.
    [[nodiscard]] bool is_plain() const noexcept;
};

/// An error of the standard. A null one reads as no error, and one that breaks the rules of its
/// type as one that says so.
[[nodiscard]] Condition read_condition(std::string_view encoded);
/// Without `info`, with less text, and with another name if even that is too long, if it would
/// have more than `most` bytes.
[[nodiscard]] Condition shortened(Condition condition, std::size_t most);
/// Appends an error; nothing if there is none.
void write_condition(std::string& to, const Condition& condition);
/// The same, shortened to at most `most` bytes. An empty condition is no bytes.
[[nodiscard]] std::string encode_condition(const Condition& condition, std::size_t most);

} // namespace sessionq::amqp
