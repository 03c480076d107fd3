// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/result.hpp>
#include <sessionq/sub_queue.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// Which messages `purge` deletes. An aggregate for designated initialisers. A bad value throws
/// `Error{Errc::invalid_option}` naming the member.
struct PurgeOptions {
    /// Delete from this sub-queue of the entity. Default none: from the entity itself.
    SubQueue sub_queue{SubQueue::none};

    /// Delete only messages of this session. UTF-8. Range: up to 128 characters. The session need
    /// not be locked. Unset: messages of all sessions. Default unset.
    std::optional<std::string> session_id{};

    /// Delete only messages that were enqueued before this instant of the broker's clock. A network
    /// carries whole milliseconds. Unset: the messages that are there when the call begins. Azure
    /// Service Bus then gets the time of this machine's clock. If this clock is behind, the newest
    /// messages stay. Default unset.
    std::optional<WallTime> enqueued_before{};

    /// The most messages to delete, the oldest first. Zero: no limit. Default 0.
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
/// These are not deleted: deferred and scheduled messages, messages that a consumer has received
/// and not settled, and the states of sessions. Messages of a locked session are deleted if its
/// holder has not received them yet.
///
/// The call asks for up to 500 messages at a time, until the broker finds no more. Other clients
/// work in between. A message that returns to the queue meanwhile may be deleted too.
///
/// Azure Service Bus supports this for entities that are not partitioned
/// (learn.microsoft.com/azure/service-bus-messaging/batch-delete).
///
/// Deadline: `CallOptions` limits the whole call. If neither they nor the ambient context have a
/// deadline, only each single request is limited, by `ClientOptions::operation_timeout`. At the
/// deadline, or when a stop token fires, the current request is given up, and the call throws
/// timeout or cancelled.
///
/// Failure: deleted messages stay deleted. The error's text says how many messages were deleted by
/// the requests that the broker has answered. A request whose answer was lost may have deleted up
/// to 500 more. The call does not repeat such a request, because nobody knows how many messages it
/// has deleted. You may call `purge` again.
///
/// Errors: the broker's (see `Errc`), invalid_option (names the member). In particular
/// not_supported (the broker cannot delete messages, as with message groups, or nothing can be
/// received from this entity) and invalid_argument (`entity` must have 1 to 260 characters).
///
/// Thread safety: safe.
std::uint64_t purge(const Client& client, const std::string& entity,
                    const PurgeOptions& options = {}, const CallOptions& call = {});

/// Deletes messages without receiving them, and returns how many. Does what `purge` does, and
/// returns the failure instead of throwing it. The failure's detail says how many were deleted.
/// `Result` says what holds for all `try_` functions.
///
/// Thread safety: safe.
Result<std::uint64_t> try_purge(const Client& client, const std::string& entity,
                                const PurgeOptions& options = {},
                                const CallOptions& call = {}) noexcept;

} // namespace sessionq::inline v1
