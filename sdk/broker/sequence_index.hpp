// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace sessionq::broker {

struct StoredMessage;

/// The messages of an entity by sequence number. Numbers are dense, so messages are stored in
/// blocks of 64: 8 bytes a message, in order. A block is freed with its last message. Finding takes
/// O(log blocks).
class SequenceIndex {
public:
    /// `sequence` must not be in the index. It is usually the highest yet.
    void insert(std::int64_t sequence, StoredMessage& message);

    /// `sequence` must be in the index.
    void erase(std::int64_t sequence) noexcept;

    [[nodiscard]] StoredMessage* find(std::int64_t sequence) const noexcept;

    /// The message with the lowest sequence number that is not below `sequence`; null if there is
    /// none.
    [[nodiscard]] StoredMessage* at_or_after(std::int64_t sequence) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    struct Block {
        std::uint64_t taken{0}; // one bit for each message
        std::array<StoredMessage*, 64> messages{};
    };

    std::map<std::int64_t, Block> blocks_; // by sequence / 64
    std::size_t size_{0};
};

} // namespace sessionq::broker
