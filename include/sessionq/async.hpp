#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include <sessionq/browser.hpp>
#include <sessionq/client.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/operation_context.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_message.hpp>
#include <sessionq/session_receiver.hpp>

/// The awaitable twins of the calls that block: the same arguments, the same meaning, the same
/// errors, thrown from `co_await`.
///
/// What is wrong with an argument is thrown by the call itself, before there is anything to await.
/// The context is the one given, or the one that is ambient where the function is called. An
/// awaitable does nothing before it is awaited, and is awaited once.
///
/// Completion: on the executor of the awaiting coroutine, never inside the call; the executor's
/// context must run until then, and counts the operation as outstanding work. Exactly once: by the
/// answer, the deadline, the context's stop token or Asio's cancellation of the coroutine
/// (`cancelled`). May be awaited anywhere: no thread waits, so there is no `invalid_state`.
///
/// GCC 12 destroys an aggregate wrongly that is written out inside a `co_await` expression (a
/// defect of the compiler, whatever the library): give a message a name before it is sent, or let a
/// function make it, as `Message::text` does. Lifetimes: handles (`Client`, `Sender`,
/// `SessionReceiver`, `SessionMessage`) need not outlive the call; a `Browser` must live until
/// completion. Thread safety: as the blocking twin's.
namespace sessionq {

// Sender
[[nodiscard]] asio::awaitable<void> async_send(
    const Sender& sender, Message message,
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_send(
    const Sender& sender, std::vector<Message> messages,
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::int64_t> async_schedule(
    const Sender& sender, Message message, WallTime when,
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::vector<std::int64_t>> async_schedule(
    const Sender& sender, std::vector<Message> messages, WallTime when,
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_cancel_scheduled(
    const Sender& sender, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context = OperationContext::current());

// SessionReceiver
[[nodiscard]] asio::awaitable<SessionReceiver> async_accept(
    const Client& client, const std::string& entity, const std::string& session_id,
    SessionReceiverOptions options = {},
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<SessionReceiver> async_accept_next(
    const Client& client, const std::string& entity, SessionReceiverOptions options = {},
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::optional<SessionReceiver>> async_try_accept_next(
    const Client& client, const std::string& entity, Duration wait = Duration::zero(),
    SessionReceiverOptions options = {},
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::vector<SessionMessage>> async_receive(
    const SessionReceiver& receiver, std::size_t max_messages, Duration wait = Duration::max(),
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::optional<SessionMessage>> async_receive_one(
    const SessionReceiver& receiver, Duration wait = Duration::max(),
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::vector<SessionMessage>> async_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::optional<std::string>> async_state(
    const SessionReceiver& receiver, const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_set_state(
    const SessionReceiver& receiver, std::optional<std::string> state,
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<Deadline> async_renew_lock(
    const SessionReceiver& receiver, const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_close(
    const SessionReceiver& receiver, const OperationContext& context = OperationContext::current());

// SessionMessage: decided by the call, as with the blocking twins; an awaitable that is not awaited leaves the message decided and unsettled.
[[nodiscard]] asio::awaitable<void> async_complete(
    const SessionMessage& message, const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_abandon(
    const SessionMessage& message, Properties properties_to_modify = {},
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_release(
    const SessionMessage& message, const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_defer(
    const SessionMessage& message, Properties properties_to_modify = {},
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_dead_letter(
    const SessionMessage& message, std::string reason = {}, std::string description = {},
    Properties properties_to_modify = {},
    const OperationContext& context = OperationContext::current());

// Browser and sessions
[[nodiscard]] asio::awaitable<std::vector<ReceivedMessage>> async_peek(
    Browser& browser, std::uint32_t max_messages,
    const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<std::vector<std::string>> async_list_sessions(
    const Client& client, const std::string& entity,
    const OperationContext& context = OperationContext::current());

/// A handler that is a coroutine: `processor.on_message(coroutine([](MessageContext& call) ->
/// asio::awaitable<void> { ... }))`. It runs on the processor's workers, every resumption under the
/// operation context of its message (R21), and counts as a running handler until it has finished;
/// while it waits it takes no worker. Asio's timers and sockets work in it. What it throws goes to
/// the failure policy.
[[nodiscard]] MessageHandler coroutine(
    std::function<asio::awaitable<void>(MessageContext&)> handler);

// SessionContext, in coroutine handlers: valid until the handler has finished
[[nodiscard]] asio::awaitable<std::optional<std::string>> async_state(
    const SessionContext& session, const OperationContext& context = OperationContext::current());
[[nodiscard]] asio::awaitable<void> async_set_state(
    const SessionContext& session, std::optional<std::string> state,
    const OperationContext& context = OperationContext::current());

} // namespace sessionq
