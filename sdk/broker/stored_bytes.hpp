// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "broker/size_account.hpp"

namespace sessionq::broker {

/// The bytes of memory that a message takes beside its content, by estimate.
inline constexpr std::uint64_t beside_a_message = 256;

/// The account of all that an entity and its dead-letter sub-queue store, and the gate for more of
/// it. Every operation that makes bytes grow asks here first: a send, an arrival from another
/// entity, a settlement that changes properties or gives reasons, a session's state. Under the
/// entity's lock.
class StoredBytes {
public:
    enum class Part : std::uint8_t { messages, dead_letters, session_states, message_ids };

    /// The purpose of a request for room.
    enum class For : std::uint8_t {
        new_data,
        /// May exceed the bound by a sixteenth, so that a full entity can still be consumed.
        settlement,
    };

    /// `all` counts the bytes of a topic and its subscriptions, and has their bound; null: it is a
    /// queue.
    explicit StoredBytes(SizeAccount* all) noexcept : all_{all} {}
    ~StoredBytes();
    StoredBytes(const StoredBytes&) = delete;
    StoredBytes& operator=(const StoredBytes&) = delete;

    /// Something of this part has grown or shrunk.
    void change(Part part, std::uint64_t from, std::uint64_t to) noexcept;
    /// The part takes so much now.
    void set(Part part, std::uint64_t bytes) noexcept { change(part, of(part), bytes); }

    [[nodiscard]] std::uint64_t of(Part part) const noexcept {
        return parts_[static_cast<std::size_t>(part)];
    }

    /// Why there is no room for so many more bytes, if so. `most`: the entity's bound. Zero: that
    /// of the topic, if it belongs to one.
    [[nodiscard]] std::optional<std::string> find_fault(std::uint64_t more, std::uint64_t most,
                                                        For what) const;

private:
    [[nodiscard]] std::uint64_t own() const noexcept;

    SizeAccount* const all_;
    std::array<std::uint64_t, 4> parts_{};
};

} // namespace sessionq::broker
