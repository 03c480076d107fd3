// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/sub_queue.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

/// Which messages `purge` deletes. An aggregate for designated initialisers. A bad value throws
/// `Error{Errc::invalid_option}` naming the member.
struct PurgeOptions {
    /// Those of this sub-queue of the entity. Default none: the entity itself.
    SubQueue sub_queue{SubQueue::none};

    /// Those of this session. UTF-8. Range: up to 128 characters. The session need not be locked.
    /// Unset: those of all sessions. Default unset.
    std::optional<std::string> session_id{};

    /// Those that were enqueued before this instant of the broker's clock. Over a network the
    /// instant counts in whole milliseconds. Unset: those that are there when the call begins.
    /// Azure Service Bus is then told this machine's time. If that is behind, the newest messages
    /// stay. Default unset.
    std::optional<WallTime> enqueued_before{};

    /// The most messages, the oldest first. Zero: no limit. Default 0.
    std::uint64_t max_messages{0};
};

/// Deletes messages without receiving them, the oldest first, for good. Returns how many it
/// deleted.
///
/// Example:
///
///     const auto yesterday = std::chrono::system_clock::now() - std::chrono::hours{24};
///     const std::uint64_t deleted = purge(
///         client, "orders",
///         {.sub_queue = SubQueue::dead_letter, .enqueued_before = yesterday});
///     std::cout << deleted << " old dead letters are gone\n";
///
/// These stay: deferred and scheduled messages, messages that a consumer has received and not
/// settled, and the states of sessions. The messages of a locked session that its holder has not
/// received yet are deleted.
///
/// The call asks for up to 500 messages at a time, until the broker finds no more. Other clients
/// work in between. A message that returns to the queue meanwhile may be deleted too.
///
/// Azure Service Bus deletes in this way from entities that are not partitioned
/// (learn.microsoft.com/azure/service-bus-messaging/batch-delete).
///
/// Deadline: `CallOptions` bounds the whole call. Without a deadline in them or in the ambient
/// context, only the single requests are limited, by `ClientOptions::operation_timeout`. At the
/// deadline, or when a stop token fires, the request under way is given up, and the call throws.
///
/// Failure: deleted messages stay deleted. The error's text says how many messages the answered
/// requests deleted. A request whose answer was lost may have deleted up to 500 more. It is not
/// repeated, because its count cannot be known. It is safe to call again.
///
/// Errors: the broker's (see `Errc`); in particular not_supported (the broker cannot delete
/// messages, as with message groups, or nothing can be received from this entity). Also
/// invalid_argument (`entity` must have 1 to 260 characters), invalid_option.
///
/// Thread safety: safe.
std::uint64_t purge(const Client& client, const std::string& entity,
                    const PurgeOptions& options = {}, const CallOptions& call = {});

} // namespace sessionq
