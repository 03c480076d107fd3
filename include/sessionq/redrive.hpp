// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

/// Selects dead letters. An unset member selects all.
///
/// Example:
///
///     const DeadLetterFilter old{.older_than = std::chrono::hours{24}};
///     const auto now = std::chrono::system_clock::now();
///     for (const ReceivedMessage& letter :
///          Browser{client, "orders", {.sub_queue = SubQueue::dead_letter}}) {
///         std::cout << letter.sequence_number() << (old.matches(letter, now) ? " old\n" : "\n");
///     }
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct DeadLetterFilter {
    /// Those of this session. UTF-8. Range: up to 128 characters. Default unset.
    std::optional<std::string> session_id{};

    /// Those with exactly this reason. Default unset.
    std::optional<std::string> reason{};

    /// Those that were enqueued longer ago. Compares the broker's time on the message with this
    /// machine's clock. Range: zero or more. Default unset.
    std::optional<Duration> older_than{};

    [[nodiscard]] bool matches(const ReceivedMessage& message, WallTime now) const;
};

/// The result of a `redrive`. `selected` is the sum of `sent`, `already_sent` and `left`.
struct RedriveReport {
    std::uint64_t selected{0};     ///< Dead letters that filter and limit selected at the start.
    std::uint64_t sent{0};         ///< Sent by this call, and no dead letters any more.
    std::uint64_t already_sent{0}; ///< Sent by an earlier call, and removed by this one.
    std::uint64_t left{0};         ///< Still dead letters, or not through yet.
    std::uint64_t sessions{0};     ///< Sessions whose selected dead letters are all through.
    /// Sessions left because another consumer held them. Counted at the end.
    std::uint64_t busy_sessions{0};

    friend bool operator==(const RedriveReport&, const RedriveReport&) = default;
};

/// How a `redrive` works. An aggregate for designated initialisers. A bad value throws
/// `Error{Errc::invalid_option}` naming the member.
struct RedriveOptions {
    /// Which dead letters. Default: all.
    DeadLetterFilter filter{};

    /// The most dead letters, the oldest first. Zero: no limit. Default 0.
    std::uint64_t limit{0};

    /// True: hold each session while its dead letters are sent, so that no consumer handles its
    /// newer messages meanwhile. False: do not. No effect on messages without a session, and on
    /// entities that do not require sessions. Default true.
    bool hold_sessions{true};

    /// How long to wait for dead letters and sessions that another consumer holds, from the last
    /// progress. Dead letters and sessions still held then are left. After a crash, dead letters
    /// stay locked until their locks end. Range: zero or more. Zero: do not wait. Default 2 min.
    Duration max_wait{std::chrono::minutes{2}};

    /// True: accept that the dead letters of a subscription can only be sent to its topic. Every
    /// other subscription that selects them gets them again, and the subscription itself only gets
    /// them if its rules select them. Rules can exclude them by the property
    /// `redrive_source_property`. False: a subscription is refused. Default false.
    bool through_topic{false};

    /// Is told of the progress after each step that changed it. Runs on the calling thread, or for
    /// `async_redrive` on the coroutine's executor. An exception that it throws ends the redrive.
    std::function<void(const RedriveReport&)> on_progress{};
};

/// The mark of a message that a redrive has sent: application properties that say where it came
/// from. A later redrive of the same message replaces the first two.
inline constexpr std::string_view redrive_source_property = "sessionq-redrive-source";
inline constexpr std::string_view redrive_number_property = "sessionq-redrive-number";
/// The message id that the application gave it, of the same type. Of an id of bytes it is base64.
inline constexpr std::string_view redrive_message_id_property = "sessionq-redrive-message-id";

/// Sends the dead letters of a queue or subscription back, each session's in the order of their
/// sequence numbers. Takes those that are there when it starts. `entity` is the queue or
/// "TOPIC/subscriptions/NAME", not its sub-queue.
///
/// Example:
///
///     const RedriveReport report = redrive(client, "orders", {
///         .filter = {.reason = "PaymentServiceDown"},
///         .on_progress = [](const RedriveReport& so_far) {
///             std::cerr << so_far.sent << " of " << so_far.selected << '\n';
///         },
///     });
///     std::cout << report.sent << " sent, " << report.left << " left\n";
///
/// Content: the message is sent as it was encoded. All sections, types, ids and annotations stay
/// byte for byte, except these:
/// - the mark: three application properties;
/// - the message id: a new one of the same type, always the same one for the same dead letter. With
///   its old id, a broker that detects duplicates would drop it while it remembers the original.
///   `redrive_message_id_property` has the old one;
/// - the dead-letter properties `DeadLetterReason` and `DeadLetterErrorDescription`, and the
///   deadline: they are removed;
/// - facts of the delivery: the delivery count, and the annotations that only brokers set;
/// - absolute-expiry-time, if there is one, because the time to live begins anew.
///
/// Nothing is lost: a dead letter is completed only after the broker has confirmed its copy.
///
/// Nothing is doubled by a repeat: if a call fails, or its process is killed at any point, call
/// again. A copy whose dead letter is still there is then recognised:
/// - by its mark, if it is still in the entity, with every broker;
/// - by its message id, if the entity (for a subscription, its topic) detects duplicates and its
///   detection window is not over.
///
/// Otherwise one case is left. The call died after a send and before it completed the dead letter,
/// and a consumer has handled the copy before the repeat. Then it is sent twice.
///
/// Order: dead letters go behind the messages that are in their session already, because brokers
/// only append. So they come after messages that were sent later than they were. While the call
/// holds the session, its newer messages wait until all its selected dead letters are through.
/// After a crash the lock of the session ends, and consumers go on until the repeat holds it.
/// Messages without a session are sent in order, and consumers may handle them in any order.
///
/// Run one redrive of an entity at a time. Two are safe as long as their locks last, but each waits
/// for the dead letters that the other one has locked. The call locks the dead letters that the
/// filter leaves, too, and returns them uncounted at its end. All that are locked are in memory:
/// use `limit` for many large ones. To find marks, it peeks the entity's session once for each
/// session that has dead letters, and the whole entity for messages without a session.
///
/// Deadline: `CallOptions` bounds the whole call. Without a deadline in them or in the ambient
/// context, only the single requests are limited, by `ClientOptions::operation_timeout`. At the
/// deadline, or when a stop token fires, the call ends after the step under way. Deadline and trace
/// of the context do not travel in the messages.
///
/// Errors: the broker's (see `Errc`). In particular not_supported (the broker has no receivers of
/// dead letters: message groups), invalid_argument (`entity` must have 1 to 260 characters and be
/// no sub-queue), invalid_option (also: a subscription without `through_topic`), invalid_state (on
/// a receive thread), message_too_large (a dead letter with its mark), protocol_error (a dead
/// letter whose annotations or application properties are malformed; it stays), timeout, cancelled.
/// Messages that were sent before an error stay sent.
///
/// Thread safety: safe.
RedriveReport redrive(const Client& client, const std::string& entity, RedriveOptions options = {},
                      const CallOptions& call = {});

} // namespace sessionq
