// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "broker/sequence_index.hpp"
#include "broker/session.hpp"
#include "broker/stored_bytes.hpp"
#include "broker/stored_message.hpp"

namespace sessionq::broker {

/// Owns the messages of an entity. Assigns their sequence numbers, finds them by number and counts
/// their bytes.
class MessageStore {
public:
    /// `account` counts its bytes as this part.
    MessageStore(StoredBytes& account, StoredBytes::Part part) noexcept
        : account_{account}, part_{part} {}
    ~MessageStore();
    MessageStore(const MessageStore&) = delete;
    MessageStore& operator=(const MessageStore&) = delete;

    /// Adds a message with the next sequence number, at the end of `session` (null: none).
    StoredMessage& add(MessageContentPtr content, Session* session) {
        return add(std::move(content), session, last_sequence_ + 1);
    }

    /// Adds a message with the given sequence number, which must be above that of every other
    /// message.
    StoredMessage& add(MessageContentPtr content, Session* session, std::int64_t sequence);

    /// Marks all numbers up to `sequence` as assigned.
    void skip_to(std::int64_t sequence) noexcept {
        last_sequence_ = std::max(last_sequence_, sequence);
    }

    /// Gives a message the next sequence number, as if it arrived now.
    void renumber(StoredMessage& message);

    void replace_content(StoredMessage& message, MessageContentPtr content);
    /// Sets why it was dead-lettered.
    void set_dead_letter(StoredMessage& message, std::shared_ptr<const DeadLetterInfo> why);

    void move(StoredMessage& message, Place to) noexcept;
    void remove(StoredMessage& message) noexcept;

    /// The highest number that was assigned.
    [[nodiscard]] std::int64_t last_sequence() const noexcept { return last_sequence_; }

    [[nodiscard]] StoredMessage* find(std::int64_t sequence) const noexcept {
        return index_.find(sequence);
    }
    [[nodiscard]] StoredMessage* at_or_after(std::int64_t sequence) const noexcept {
        return index_.at_or_after(sequence);
    }
    [[nodiscard]] std::size_t count(Place place) const noexcept {
        return counts_[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
    /// Counts the bytes that the message takes now.
    void count(StoredMessage& message) noexcept;
    void set_bytes(StoredMessage& message, std::uint32_t bytes) noexcept;

    StoredBytes& account_;
    const StoredBytes::Part part_;
    SequenceIndex index_;
    std::array<std::size_t, 3> counts_{}; // by place
    std::int64_t last_sequence_{0};
    std::uint64_t bytes_{0};
};

} // namespace sessionq::broker
