// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include <sessionq/deadline.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/result.hpp>
#include <sessionq/session_context.hpp>

namespace sessionq::detail::processor {
class HandledMessage;
} // namespace sessionq::detail::processor

namespace sessionq::inline v1 {

/// A message in its handler. A handler that returns completes the message, unless
/// `SessionProcessorOptions::auto_complete` is off. A handler that throws leaves it to the failure
/// policy. So does a handler that calls `fail`. The functions below settle it otherwise.
///
/// Example:
///
///     processor.on_message([](MessageContext& context) {
///         if (context.message().text().empty()) {
///             context.dead_letter("Empty", "the order has no lines");
///             return;
///         }
///         std::cout << context.message().text() << '\n';
///     });
///
/// Settling: the first settling call decides, and does not wait for the broker's answer. If the
/// broker rejects it, `on_error` is called. Some brokers keep no changed properties and no
/// dead-letter reason (sdk/docs/brokers.md). They are left out there.
///
/// Properties to modify are merged into the application properties. Names and texts are UTF-8, and
/// they have up to 64 KiB together. Otherwise the call throws invalid_argument or
/// message_too_large, and decides nothing.
///
/// Lifetimes: valid until the handler returns (a handler that finishes later: until it finishes).
/// Any thread may settle the message before that. A context only refers to its message, so a kept
/// copy would outlive the message and crash the program. For that reason contexts cannot be copied.
/// Take them by reference, and keep a copy of `message()`. Moving one is for the library's
/// batches, and does not make it live longer.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe.
class MessageContext {
public:
    MessageContext(MessageContext&&) noexcept = default;
    MessageContext& operator=(MessageContext&&) noexcept = default;
    MessageContext(const MessageContext&) = delete; // take it by reference, copy message()
    MessageContext& operator=(const MessageContext&) = delete;
    ~MessageContext() = default;

    /// A copy of the message may outlive the handler.
    [[nodiscard]] const ReceivedMessage& message() const noexcept;
    [[nodiscard]] SessionContext session() const noexcept;

    /// The number of this attempt under this lock. The first is 1.
    [[nodiscard]] std::uint32_t attempt() const noexcept;

    /// By when the message should be handled: `message().deadline()`. never() if it has no
    /// deadline. The ambient context of the handler has the same deadline. The end of the lock is
    /// `OperationContext::current().lock_expires()`.
    [[nodiscard]] Deadline deadline() const noexcept;

    /// The stop token of the lock that holds the message: the session's lock in a
    /// `SessionProcessor`, and in a `Processor` the message's own one, if the broker locks single
    /// messages. The token fires shortly before the lock expires, when it is lost, and at
    /// `StopOptions::cancel_after` of a stop. Its callbacks run one after another on a thread that
    /// the processor keeps for them.
    [[nodiscard]] std::stop_token stop_token() const noexcept;

    /// Whether one of the functions below has decided the message.
    [[nodiscard]] bool settled() const noexcept;

    /// The broker removes the message.
    /// Errors: already_settled (also with `receive_and_delete`, where nothing needs settling),
    /// lock_lost.
    void complete();

    /// The message returns to the broker, and the delivery counts. It is redelivered before later
    /// messages of its session. `properties_to_modify` are merged into the application properties.
    /// Errors: already_settled (also with `receive_and_delete`), lock_lost, invalid_argument (a
    /// name or text of `properties_to_modify` is not UTF-8), message_too_large (they have more than
    /// 64 KiB).
    void abandon(Properties properties_to_modify = {});

    /// The message returns to the broker, and the delivery does not count, so it may come again and
    /// again. It is redelivered before later messages of its session.
    ///
    /// The session is parked for `FailurePolicy::abandon_delay` first: no handler of it runs. Then
    /// the processor leaves it. Without that delay the message returns at once. In a `Processor`
    /// the message alone waits. A stop does not wait for it.
    /// Errors: already_settled (also with `receive_and_delete`), lock_lost.
    void release();

    /// The message goes to the dead-letter queue. Reason and description are cut after 4,096
    /// characters each, and bytes that are not UTF-8 are replaced by U+FFFD. `properties_to_modify`
    /// are merged into the application properties.
    /// Errors: already_settled (also with `receive_and_delete`), lock_lost, not_supported (the
    /// broker has no dead-letter queues), invalid_argument (a name or text of
    /// `properties_to_modify` is not UTF-8), message_too_large (they have more than 64 KiB).
    void dead_letter(std::string reason = {}, std::string description = {},
                     Properties properties_to_modify = {});

    /// The broker sets the message aside until `SessionContext::receive_deferred`, or that of a
    /// receiver, asks for its sequence number. `properties_to_modify` are merged into the
    /// application properties.
    /// Errors: already_settled (also with `receive_and_delete`), lock_lost, not_supported (the
    /// broker cannot defer), invalid_argument (a name or text of `properties_to_modify` is not
    /// UTF-8), message_too_large (they have more than 64 KiB).
    void defer(Properties properties_to_modify = {});

    /// The handler has failed. When it returns, or finishes later, the processor acts as if it had
    /// thrown `Error{failure}`: the failure policy applies, and `on_failure` and `on_error` are
    /// called. It is for programs without exceptions, and for handlers that should not throw. Any
    /// thread may call it before the handler ends. It does not settle the message, and `settled`
    /// stays false. Returns at once.
    ///
    /// - The first failure counts. Later calls change nothing.
    /// - If the handler also throws, the exception counts.
    /// - If the handler settles the message before or after the call, the settlement stands. The
    ///   policy is not applied then, but `on_error` is called.
    ///
    /// In a batch (`SessionProcessor::on_messages`) the first message with a failure has failed.
    /// The messages behind it that the handler did not settle return to the front of their session,
    /// in order and uncounted, and are handled again after that one. The messages before it are
    /// completed as if the handler had returned without a failure.
    ///
    /// Example:
    ///
    ///     processor.on_message([](MessageContext& context) {
    ///         if (context.message().text().empty()) {
    ///             context.fail({.code = Errc::handler_failed, .detail = "the order is empty"});
    ///             return;
    ///         }
    ///         auto session = context.session();
    ///         if (auto saved = session.try_set_state("seen"); !saved) {
    ///             context.fail(std::move(saved).error());
    ///         }
    ///     });
    void fail(Failure failure) noexcept;

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// The broker removes the message. Does what `complete` does, and returns the failure instead
    /// of throwing it.
    Result<void> try_complete() noexcept;

    /// The message returns to the broker, and the delivery counts. Does what `abandon` does, and
    /// returns the failure instead of throwing it.
    Result<void> try_abandon(Properties properties_to_modify = {}) noexcept;

    /// The message returns to the broker, and the delivery does not count. Does what `release`
    /// does, and returns the failure instead of throwing it.
    Result<void> try_release() noexcept;

    /// The message goes to the dead-letter queue. Does what `dead_letter` does, and returns the
    /// failure instead of throwing it.
    Result<void> try_dead_letter(std::string reason = {}, std::string description = {},
                                 Properties properties_to_modify = {}) noexcept;

    /// The broker sets the message aside. Does what `defer` does, and returns the failure instead
    /// of throwing it.
    Result<void> try_defer(Properties properties_to_modify = {}) noexcept;

private:
    friend struct detail::client::Access;

    explicit MessageContext(detail::processor::HandledMessage& call) noexcept : call_{&call} {}

    detail::processor::HandledMessage* call_;
};

} // namespace sessionq::inline v1
