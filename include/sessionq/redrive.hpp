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
#include <sessionq/result.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// Selects dead letters. A dead letter must match all members that are set.
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
    /// Only dead letters of this session. UTF-8. Range: up to 128 characters. Default unset.
    std::optional<std::string> session_id{};

    /// Only dead letters with exactly this reason. Default unset.
    std::optional<std::string> reason{};

    /// Only dead letters that were enqueued longer ago. Compares the broker's time on the message
    /// with this machine's clock. Range: zero or more. Default unset.
    std::optional<Duration> older_than{};

    /// Whether the filter selects the message. `now` is `std::chrono::system_clock::now()`.
    [[nodiscard]] bool matches(const ReceivedMessage& message, WallTime now) const;
};

/// The result of a `redrive`. `selected` is the sum of `sent`, `already_sent` and `left`.
struct RedriveReport {
    std::uint64_t selected{0};     ///< Dead letters that the call selected at its start.
    std::uint64_t sent{0};         ///< Sent by this call, and removed.
    std::uint64_t already_sent{0}; ///< Sent by an earlier call, removed by this call.
    std::uint64_t left{0};         ///< Selected, and not removed yet.
    std::uint64_t sessions{0};     ///< Sessions with no selected dead letter left.
    /// Sessions that were left because another consumer held them. Known at the end.
    std::uint64_t busy_sessions{0};

    friend bool operator==(const RedriveReport&, const RedriveReport&) = default;
};

/// How a `redrive` works. An aggregate for designated initialisers. A bad value throws
/// `Error{Errc::invalid_option}` naming the member.
struct RedriveOptions {
    /// The dead letters to send. Default: all.
    DeadLetterFilter filter{};

    /// The most dead letters to send, the oldest first. Zero: no limit. Default 0.
    std::uint64_t max_messages{0};

    /// True: hold each session while its dead letters are sent, so that no consumer handles its
    /// newer messages meanwhile. False: do not. No effect on messages without a session, and on
    /// entities that do not require sessions. Default true.
    bool hold_sessions{true};

    /// How long to wait for dead letters and sessions that another consumer holds. The time starts
    /// anew with each progress. At its end the call leaves the dead letters and sessions that are
    /// still held. Allow for a crash: dead letters then stay locked until their locks end. Range:
    /// zero or more. Zero: do not wait. Default 2 min.
    Duration max_wait{std::chrono::minutes{2}};

    /// True: send the dead letters of a subscription to its topic, because nothing can be sent to a
    /// subscription itself. Every subscription of the topic whose rules select them then gets them:
    /// other subscriptions get them again, and this one may not get them. Rules can exclude them by
    /// the property `redrive_source_property`. False: the entity must not be a subscription
    /// (invalid_option). Default false.
    bool through_topic{false};

    /// Called with the progress after each step that changed it. Runs on the calling thread, or for
    /// `async_redrive` on the executor of the completion handler. If it throws, the redrive ends
    /// with that exception. Default unset.
    std::function<void(const RedriveReport&)> on_progress{};
};

/// The application properties that mark a message as sent by a redrive: the name of the sub-queue
/// that the dead letter was in, and its sequence number there. A later redrive of the same message
/// replaces both.
inline constexpr std::string_view redrive_source_property = "sessionq-redrive-source";
inline constexpr std::string_view redrive_number_property = "sessionq-redrive-number";
/// Also part of the mark: the message id that the application gave the message, of the same type.
/// An id of bytes is stored as base64. A later redrive keeps it.
inline constexpr std::string_view redrive_message_id_property = "sessionq-redrive-message-id";

/// Sends the dead letters of a queue or subscription back, those of each session in the order of
/// their sequence numbers. Selects dead letters once, when it starts. `entity` is the queue or
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
/// Repeating: if a call fails, or its process is killed at any point, call again. The new call does
/// not send a dead letter twice if it recognises the copy that the earlier call has sent:
/// - by its mark, if the copy is still in the entity, with every broker;
/// - by its message id, if the entity (for a subscription, its topic) detects duplicates and its
///   detection window is not over.
///
/// A dead letter is sent twice only in one other case: the earlier call died after it had sent the
/// copy and before it completed the dead letter, and a consumer has handled the copy since.
///
/// Order: brokers only append, so dead letters go behind the messages that are in their session
/// already, even behind messages that were sent later. While the call holds the session, its newer
/// messages wait until all its selected dead letters are sent and removed. After a crash the lock
/// of the session ends, and consumers continue until the repeated call holds the session. Messages
/// without a session are sent in order, and consumers may handle them in any order.
///
/// Run one redrive of an entity at a time. Two are safe as long as their locks last, but each waits
/// for the dead letters that the other one has locked. The call also locks dead letters that the
/// filter does not select, and returns them uncounted at its end. All locked dead letters are in
/// memory, so use `max_messages` for many large ones. To find marks, the call peeks the entity's
/// session once for each session that has dead letters. For messages without a session it peeks the
/// whole entity.
///
/// Deadline: `CallOptions` limits the whole call. If neither they nor the ambient context have a
/// deadline, only each single request is limited, by `ClientOptions::operation_timeout`. At the
/// deadline, or when a stop token fires, the call ends after the current step. The messages do not
/// carry the deadline and trace of the context.
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

/// Sends dead letters back, and reports how many. Does what `redrive` does, and returns the failure
/// instead of throwing it. An exception of `RedriveOptions::on_progress` is handler_failed.
/// `Result` says what holds for all `try_` functions.
///
/// Thread safety: safe.
Result<RedriveReport> try_redrive(const Client& client, const std::string& entity,
                                  RedriveOptions options = {},
                                  const CallOptions& call = {}) noexcept;

} // namespace sessionq::inline v1
