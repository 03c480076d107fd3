// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>

#include <sessionq/batch_handler.hpp>
#include <sessionq/browser.hpp>
#include <sessionq/call_options.hpp>
#include <sessionq/callback.hpp>
#include <sessionq/client.hpp>
#include <sessionq/detail/async_call_options.hpp>
#include <sessionq/detail/awaiting.hpp>
#include <sessionq/detail/calls.hpp>
#include <sessionq/detail/coroutines.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/purge.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/redrive.hpp>
#include <sessionq/rule_manager.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_handler.hpp>
#include <sessionq/session_message.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/session_receiver.hpp>

/// Each blocking function has a twin here that returns an awaitable: `async_send` is the twin of
/// `Sender::send`. It has the same arguments, effect and errors, and throws the errors from
/// `co_await`. The headers of the classes describe them.
///
/// Example:
///
///     const auto copy = [](Client client) -> asio::awaitable<void> {
///         SessionReceiver receiver = co_await async_accept_next(client, "orders");
///         while (auto message = co_await async_receive_one(receiver, std::chrono::seconds{1})) {
///             co_await async_complete(*message);
///         }
///         co_await async_close(receiver);
///     };
///
/// Arguments: the function checks them and throws before it returns an awaitable.
///
/// Context: a call uses `CallOptions::context` and the ambient context of the thread that calls the
/// function. A coroutine cannot have an `OperationContext::Scope`, so pass the context. A timeout
/// counts from the call of the function.
///
/// Start: an awaitable does nothing until you await it. Await it once.
///
/// Completion: the coroutine resumes on its own executor, never inside the call. Keep the context
/// of that executor running until then. The operation counts as outstanding work of the executor.
///
/// Cancellation: an operation completes exactly once, with the first of these: its answer, its
/// deadline, its stop token, or Asio's cancellation of the coroutine (`cancelled`).
///
/// Threads: you may await anywhere. No thread waits, so there is no `invalid_state`, but for
/// `async_wait`.
///
/// Lifetimes: `Client`, `Sender`, `RuleManager`, `SessionReceiver`, `Receiver`, `LockedMessage`,
/// `SessionProcessor` and `Processor` need not outlive the call. A `Browser` must live until
/// completion.
///
/// Thread safety: as the blocking twin's.
///
/// Asio: these functions use the application's own standalone Asio, from version 1.22 on, in any
/// configuration. The library has another copy of Asio inside, in another namespace.
///
/// GCC 12: if an aggregate is written inside a `co_await` expression, the compiler destroys it
/// twice. This is a defect of the compiler. Give a message a name before you send it, or let a
/// function make it, as `Message::text` does. Give the options of a call a name, too. Otherwise the
/// code does not compile:
///
///     const CallOptions soon{.timeout = std::chrono::seconds{1}};
///     co_await async_send(sender, Message::of("placed").in_session("ada"), soon);
namespace sessionq::inline v1 {

// Twins of the functions of `Sender`
[[nodiscard]] inline asio::awaitable<void> async_send(const Sender& sender, Message message,
                                                      detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_send(sender, std::move(message), call));
}
[[nodiscard]] inline asio::awaitable<void> async_send_all(const Sender& sender,
                                                          std::vector<Message> messages,
                                                          detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_send_all(sender, std::move(messages), call));
}
[[nodiscard]] inline asio::awaitable<void> async_send(const Sender& sender, MessageBatch batch,
                                                      detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_send(sender, std::move(batch), call));
}
[[nodiscard]] inline asio::awaitable<MessageBatch> async_create_batch(
    const Sender& sender, std::uint64_t max_bytes = 0, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_create_batch(sender, max_bytes, call));
}
[[nodiscard]] inline asio::awaitable<std::int64_t> async_schedule(
    const Sender& sender, Message message, WallTime when, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_schedule(sender, std::move(message), when, call));
}
[[nodiscard]] inline asio::awaitable<std::vector<std::int64_t>> async_schedule_all(
    const Sender& sender, std::vector<Message> messages, WallTime when,
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_schedule_all(sender, std::move(messages), when, call));
}
[[nodiscard]] inline asio::awaitable<void> async_cancel_scheduled(
    const Sender& sender, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}) {
    return detail::await(
        detail::prepare_cancel_scheduled(sender, std::move(sequence_numbers), call));
}

// Twins of the functions of `SessionReceiver`
[[nodiscard]] inline asio::awaitable<SessionReceiver> async_accept(
    const Client& client, const std::string& entity, const std::string& session_id,
    SessionReceiverOptions options = {}, detail::AsyncCallOptions call = {}) {
    return detail::await(
        detail::prepare_accept(client, entity, session_id, std::move(options), call));
}
[[nodiscard]] inline asio::awaitable<SessionReceiver> async_accept_next(
    const Client& client, const std::string& entity, SessionReceiverOptions options = {},
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_accept_next(client, entity, std::move(options), call));
}
[[nodiscard]] inline asio::awaitable<std::optional<SessionReceiver>> async_accept_next_if_any(
    const Client& client, const std::string& entity, Timeout wait = Duration::zero(),
    SessionReceiverOptions options = {}, detail::AsyncCallOptions call = {}) {
    return detail::await(
        detail::prepare_accept_next_if_any(client, entity, wait, std::move(options), call));
}
[[nodiscard]] inline asio::awaitable<std::vector<SessionMessage>> async_receive(
    const SessionReceiver& receiver, std::size_t max_messages, Timeout wait = Duration::max(),
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_receive(receiver, max_messages, wait, call));
}
[[nodiscard]] inline asio::awaitable<std::optional<SessionMessage>> async_receive_one(
    const SessionReceiver& receiver, Timeout wait = Duration::max(),
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_receive_one(receiver, wait, call));
}
[[nodiscard]] inline asio::awaitable<std::vector<SessionMessage>> async_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}) {
    return detail::await(
        detail::prepare_receive_deferred(receiver, std::move(sequence_numbers), call));
}
[[nodiscard]] inline asio::awaitable<std::optional<std::string>> async_state(
    const SessionReceiver& receiver, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_state(receiver, call));
}
[[nodiscard]] inline asio::awaitable<void> async_set_state(const SessionReceiver& receiver,
                                                           std::optional<std::string> state,
                                                           detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_set_state(receiver, std::move(state), call));
}
[[nodiscard]] inline asio::awaitable<Deadline> async_renew_lock(
    const SessionReceiver& receiver, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_renew_lock(receiver, call));
}
[[nodiscard]] inline asio::awaitable<void> async_close(const SessionReceiver& receiver,
                                                       detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_close(receiver, call));
}

// Twins of the functions of `Receiver`; `async_open_receiver` is that of `Receiver::open`
[[nodiscard]] inline asio::awaitable<Receiver> async_open_receiver(
    const Client& client, const std::string& entity, ReceiverOptions options = {},
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_open_receiver(client, entity, std::move(options), call));
}
[[nodiscard]] inline asio::awaitable<std::vector<LockedMessage>> async_receive(
    const Receiver& receiver, std::size_t max_messages, Timeout wait = Duration::max(),
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_receive(receiver, max_messages, wait, call));
}
[[nodiscard]] inline asio::awaitable<std::optional<LockedMessage>> async_receive_one(
    const Receiver& receiver, Timeout wait = Duration::max(), detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_receive_one(receiver, wait, call));
}
[[nodiscard]] inline asio::awaitable<std::vector<LockedMessage>> async_receive_deferred(
    const Receiver& receiver, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}) {
    return detail::await(
        detail::prepare_receive_deferred(receiver, std::move(sequence_numbers), call));
}
[[nodiscard]] inline asio::awaitable<void> async_close(const Receiver& receiver,
                                                       detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_close(receiver, call));
}

// Twins of the functions of `LockedMessage`, which is also `SessionMessage`
[[nodiscard]] inline asio::awaitable<Deadline> async_renew_lock(
    const LockedMessage& message, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_renew_lock(message, call));
}

// Settling: like its twin, the function decides the message before it returns. Await the result:
// otherwise the message stays decided and is never settled.
[[nodiscard]] inline asio::awaitable<void> async_complete(const LockedMessage& message,
                                                          detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_complete(message, call));
}
[[nodiscard]] inline asio::awaitable<void> async_abandon(const LockedMessage& message,
                                                         Properties properties_to_modify = {},
                                                         detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_abandon(message, std::move(properties_to_modify), call));
}
[[nodiscard]] inline asio::awaitable<void> async_release(const LockedMessage& message,
                                                         detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_release(message, call));
}
[[nodiscard]] inline asio::awaitable<void> async_defer(const LockedMessage& message,
                                                       Properties properties_to_modify = {},
                                                       detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_defer(message, std::move(properties_to_modify), call));
}
[[nodiscard]] inline asio::awaitable<void> async_dead_letter(const LockedMessage& message,
                                                             std::string reason = {},
                                                             std::string description = {},
                                                             Properties properties_to_modify = {},
                                                             detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_dead_letter(
        message, std::move(reason), std::move(description), std::move(properties_to_modify), call));
}

// Twins of the functions of `Browser`, and of `list_sessions`
[[nodiscard]] inline asio::awaitable<std::vector<ReceivedMessage>> async_peek(
    Browser& browser, std::uint32_t max_messages, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_peek(browser, max_messages, call));
}
[[nodiscard]] inline asio::awaitable<std::optional<ReceivedMessage>> async_next(
    Browser& browser, Timeout wait = Duration::max(), detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_next(browser, wait, call));
}
[[nodiscard]] inline asio::awaitable<std::vector<std::string>> async_list_sessions(
    const Client& client, const std::string& entity, const ListSessionsOptions& options = {},
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_list_sessions(client, entity, options, call));
}

// Twin of `purge`
[[nodiscard]] inline asio::awaitable<std::uint64_t> async_purge(
    const Client& client, const std::string& entity, const PurgeOptions& options = {},
    detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_purge(client, entity, options, call));
}

// Twins of the functions of `RuleManager`: `add`, `remove` and `list`
[[nodiscard]] inline asio::awaitable<void> async_add_rule(const RuleManager& rules, Rule rule,
                                                          detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_add_rule(rules, std::move(rule), call));
}
[[nodiscard]] inline asio::awaitable<void> async_remove_rule(const RuleManager& rules,
                                                             std::string name,
                                                             detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_remove_rule(rules, std::move(name), call));
}
[[nodiscard]] inline asio::awaitable<std::vector<Rule>> async_list_rules(
    const RuleManager& rules, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_list_rules(rules, call));
}

// Twin of `redrive`
[[nodiscard]] inline asio::awaitable<RedriveReport> async_redrive(
    const Client& client, const std::string& entity, RedriveOptions options = {},
    detail::AsyncCallOptions call = {}) {
    return detail::perform(detail::prepare_redrive(client, entity, std::move(options), call));
}

// Twins of `wait` of `SessionProcessor` and `Processor`. A handler of that processor, also one that
// is a coroutine, may not call them: they throw `invalid_state`, as `wait` does.
[[nodiscard]] inline asio::awaitable<StopReport> async_wait(const SessionProcessor& processor,
                                                            detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_wait(processor, call));
}
[[nodiscard]] inline asio::awaitable<StopReport> async_wait(const Processor& processor,
                                                            detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_wait(processor, call));
}

/// Makes a handler from a coroutine.
///
/// Example:
///
///     processor.on_message(coroutine([](MessageContext& context) -> asio::awaitable<void> {
///         asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::seconds{1}};
///         co_await timer.async_wait(asio::use_awaitable);
///         context.complete();
///     }));
///
/// The coroutine runs on the processor's workers, under the operation context of its message. It
/// counts as a running handler until it finishes, but occupies no worker while it waits. Its parts
/// run one at a time. Asio's timers and sockets work in it. An exception goes to the failure
/// policy.
///
/// When the session's stop token fires, the operation that the coroutine waits for is cancelled
/// (`asio::cancellation_type::all`): the wait throws `asio::error::operation_aborted`. Every later
/// `co_await` throws it too, unless the coroutine awaits
/// `asio::this_coro::reset_cancellation_state` first.
[[nodiscard]] inline MessageHandler coroutine(
    Callback<asio::awaitable<void>(MessageContext&)> handler) {
    return detail::coroutine_handler<MessageContext&>(std::move(handler));
}

/// Makes a handler of batches from a coroutine. It runs as a handler of single messages does, but
/// under the operation context of the batch (see `SessionProcessor::on_messages`).
///
/// Example:
///
///     processor.on_messages(
///         coroutine([](std::span<MessageContext> batch) -> asio::awaitable<void> {
///             asio::steady_timer timer{co_await asio::this_coro::executor,
///                                      std::chrono::milliseconds{batch.size()}};
///             co_await timer.async_wait(asio::use_awaitable);
///         }));
[[nodiscard]] inline BatchHandler coroutine(
    Callback<asio::awaitable<void>(std::span<MessageContext>)> handler) {
    return detail::coroutine_handler<std::span<MessageContext>>(std::move(handler));
}

/// Makes a handler of opened sessions from a coroutine. It runs as a handler of messages does. The
/// session's first message waits until it has finished.
///
/// Example:
///
///     processor.on_session_open(coroutine([](SessionContext& session) -> asio::awaitable<void> {
///         if (!co_await async_state(session)) {
///             co_await async_set_state(session, "opened");
///         }
///     }));
[[nodiscard]] inline SessionOpenHandler coroutine(
    Callback<asio::awaitable<void>(SessionContext&)> handler) {
    return detail::coroutine_handler<SessionContext&>(std::move(handler));
}

/// Makes a handler of closed sessions from a coroutine. It runs as a handler of messages does. The
/// processor gives the session back when it has finished.
///
/// Example:
///
///     processor.on_session_close(
///         coroutine([](SessionContext& session, CloseReason reason) -> asio::awaitable<void> {
///             if (reason != CloseReason::lock_lost) {
///                 co_await async_set_state(session, "closed");
///             }
///         }));
[[nodiscard]] inline SessionCloseHandler coroutine(
    Callback<asio::awaitable<void>(SessionContext&, CloseReason)> handler) {
    return detail::coroutine_handler<SessionContext&, CloseReason>(std::move(handler));
}

/// Does not compile, and says why: the function is not one of the coroutines above.
template <typename F>
requires(!detail::HandlerCoroutine<F>) MessageHandler coroutine(F /*function*/) {
    static_assert(detail::HandlerCoroutine<F>,
                  "a coroutine of a handler returns asio::awaitable<void> and takes a "
                  "MessageContext&, a std::span<MessageContext>, a SessionContext&, or a "
                  "SessionContext& and a CloseReason");
    return {};
}

// Twins of the functions of `SessionContext`, for handlers that are coroutines. The context is
// valid until the handler has finished.
[[nodiscard]] inline asio::awaitable<std::optional<std::string>> async_state(
    const SessionContext& session, detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_state(session, call));
}
[[nodiscard]] inline asio::awaitable<void> async_set_state(const SessionContext& session,
                                                           std::optional<std::string> state,
                                                           detail::AsyncCallOptions call = {}) {
    return detail::await(detail::prepare_set_state(session, std::move(state), call));
}
[[nodiscard]] inline asio::awaitable<std::vector<SessionMessage>> async_receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}) {
    return detail::await(
        detail::prepare_receive_deferred(session, std::move(sequence_numbers), call));
}

} // namespace sessionq::inline v1
