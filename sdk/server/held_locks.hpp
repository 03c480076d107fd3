// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "broker/queue.hpp"
#include "core/session_id.hpp"
#include "server/message_locks.hpp"

namespace sessionq::server {

/// A consumer of one peer that holds locks: a session's, or those of single messages.
struct Holder {
    std::uint64_t number{0}; ///< the first half of its lock tokens
    std::string link{};      ///< the receiver link's name; empty if there is no link
    broker::QueuePtr queue{};
    broker::ConsumerPtr consumer{};
    TimePoint locked_until{}; ///< of a session, as last granted or renewed

    /// Returns the lock expiry of a message that is delivered at `now`. In a session the message is
    /// locked for as long as the session is, which may be renewed, so it is the greatest time, as
    /// on Azure Service Bus (azure-sdk-for-net issue 27057). The client for .NET forgets a message
    /// whose own lock seems to be over.
    [[nodiscard]] WallTime message_locked_until(broker::Instant now) const {
        return consumer->has_session ? WallTime::max()
                                     : now.wall + std::chrono::duration_cast<WallTime::duration>(
                                                      queue->options().lock_duration);
    }
};

/// The locks that one connection's receivers hold. Requests find them by link, session or lock
/// token. By token they also find the locks of single messages that other connections hold.
class HeldLocks {
public:
    explicit HeldLocks(MessageLocks& of_messages) noexcept : of_messages_{of_messages} {}

    void add(Holder holder);
    void remove(std::uint64_t number);
    void note_renewal(std::uint64_t number, TimePoint until);

    /// Returns null if no such lock is held.
    [[nodiscard]] const Holder* of_number(std::uint64_t number) const;
    [[nodiscard]] const Holder* of_link(const broker::Queue& queue, std::string_view link) const;
    [[nodiscard]] const Holder* of_session(const broker::Queue& queue,
                                           std::string_view session_id) const;

    /// The consumer whose messages have lock tokens with this number. Null if the queue has none.
    [[nodiscard]] broker::ConsumerPtr of_token(const broker::Queue& queue,
                                               std::uint64_t number) const;

    /// Returns the holder of messages that were received without a link, from a queue without
    /// sessions. Creates it at first use.
    core::Result<const Holder*> unlinked(const broker::QueuePtr& queue, broker::Instant at);

    /// The holders of `unlinked` receive no more. Their messages stay locked.
    void retire_unlinked(broker::Instant at);

private:
    MessageLocks& of_messages_;
    std::unordered_map<std::uint64_t, Holder> holders_{};
    // of sessions, by the ids that their consumers keep
    std::unordered_multimap<std::string_view, const Holder*, core::SessionIdHash,
                            core::SessionIdEqual>
        of_sessions_{};
    std::map<const broker::Queue*, std::uint64_t> unlinked_{};
};

} // namespace sessionq::server
