#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "broker/sequence_index.hpp"
#include "broker/session.hpp"
#include "broker/stored_message.hpp"

namespace sessionq::broker {

/// The messages of an entity: gives them their sequence numbers, finds them by these, counts their
/// bytes. Owns them.
class MessageStore {
public:
    MessageStore() = default;
    ~MessageStore();
    MessageStore(const MessageStore&) = delete;
    MessageStore& operator=(const MessageStore&) = delete;

    /// A new message with the next sequence number, last in `session` (null: none).
    StoredMessage& add(MessageContentPtr content, Session* session) {
        return add(std::move(content), session, last_sequence_ + 1);
    }

    /// The same with a number of its own, above that of every message in here.
    StoredMessage& add(MessageContentPtr content, Session* session, std::int64_t sequence);

    /// Numbers up to this one have been given out.
    void skip_to(std::int64_t sequence) noexcept {
        last_sequence_ = std::max(last_sequence_, sequence);
    }

    /// Gives a message the next sequence number in place of its own, as if it came now.
    void renumber(StoredMessage& message);

    void replace_content(StoredMessage& message, MessageContentPtr content);

    void move(StoredMessage& message, Place to) noexcept;
    void remove(StoredMessage& message) noexcept;

    [[nodiscard]] StoredMessage* find(std::int64_t sequence) const noexcept {
        return index_.find(sequence);
    }
    [[nodiscard]] StoredMessage* at_or_after(std::int64_t sequence) const noexcept {
        return index_.at_or_after(sequence);
    }
    [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
    [[nodiscard]] std::size_t count(Place place) const noexcept {
        return counts_[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
    SequenceIndex index_;
    std::array<std::size_t, 3> counts_{}; // by place
    std::int64_t last_sequence_{0};
    std::uint64_t bytes_{0};
};

} // namespace sessionq::broker
