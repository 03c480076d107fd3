// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/batch_handler.hpp>
#include <sessionq/browser.hpp>
#include <sessionq/callback.hpp>
#include <sessionq/client.hpp>
#include <sessionq/detail/async_options.hpp>
#include <sessionq/detail/calls.hpp>
#include <sessionq/detail/coroutines.hpp>
#include <sessionq/detail/initiating.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/named_key_credential.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/processor_options.hpp>
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
#include <sessionq/token_credential.hpp>

#ifndef SESSIONQ_ASIO
#error "include <sessionq/async.hpp> or <sessionq/boost_asio.hpp>"
#endif

/// The functions of <sessionq/async.hpp> and of <sessionq/boost_asio.hpp>, which say what holds for
/// all of them. Do not include this header itself. The namespace inside differs for the two, so
/// that one program may use both in different files.
namespace sessionq::inline v1::inline SESSIONQ_ASIO_ADAPTER {

// Twins of `Client::connect`. The function checks its arguments, reads the files of `tls` and
// starts the client's threads before it returns. The operation connects. It ends within
// `ClientOptions::operation_timeout`, which counts from the call of the function. Like its twin, it
// ignores the ambient context.
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<Client, Token> async_connect(
    std::string_view connection_string, detail::AsyncOptions<ClientOptions> options = {},
    detail::AsyncOptions<TlsOptions> tls = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_connect(connection_string, options, tls),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<Client, Token> async_connect(
    const char* connection_string, detail::AsyncOptions<ClientOptions> options = {},
    detail::AsyncOptions<TlsOptions> tls = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_connect(connection_string, options, tls),
                            std::forward<Token>(token));
}
template <typename Credential, typename Token = detail::UseAwaitable>
requires std::derived_from<Credential, TokenCredential>
[[nodiscard]] detail::Async<Client, Token> async_connect(
    std::string_view where, std::shared_ptr<Credential> credential,
    detail::AsyncOptions<ClientOptions> options = {}, detail::AsyncOptions<TlsOptions> tls = {},
    Token&& token = Token{}) {
    return detail::initiate(
        detail::prepare_connect(where, std::shared_ptr<TokenCredential>{std::move(credential)},
                                options, tls),
        std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<Client, Token> async_connect(
    std::string_view where, const NamedKeyCredential& credential,
    detail::AsyncOptions<ClientOptions> options = {}, detail::AsyncOptions<TlsOptions> tls = {},
    Token&& token = Token{}) {
    return detail::initiate(detail::prepare_connect(where, credential, options, tls),
                            std::forward<Token>(token));
}

// Twins of the functions of `Sender`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_send(const Sender& sender, Message message,
                                                    detail::AsyncCallOptions call = {},
                                                    Token&& token = Token{}) {
    return detail::initiate(detail::prepare_send(sender, std::move(message), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_send_all(const Sender& sender,
                                                        std::vector<Message> messages,
                                                        detail::AsyncCallOptions call = {},
                                                        Token&& token = Token{}) {
    return detail::initiate(detail::prepare_send_all(sender, std::move(messages), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_send(const Sender& sender, MessageBatch batch,
                                                    detail::AsyncCallOptions call = {},
                                                    Token&& token = Token{}) {
    return detail::initiate(detail::prepare_send(sender, std::move(batch), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<MessageBatch, Token> async_create_batch(
    const Sender& sender, std::uint64_t max_bytes = 0, detail::AsyncCallOptions call = {},
    Token&& token = Token{}) {
    return detail::initiate(detail::prepare_create_batch(sender, max_bytes, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::int64_t, Token> async_schedule(const Sender& sender,
                                                                Message message, WallTime when,
                                                                detail::AsyncCallOptions call = {},
                                                                Token&& token = Token{}) {
    return detail::initiate(detail::prepare_schedule(sender, std::move(message), when, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<std::int64_t>, Token> async_schedule_all(
    const Sender& sender, std::vector<Message> messages, WallTime when,
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_schedule_all(sender, std::move(messages), when, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_cancel_scheduled(
    const Sender& sender, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(
        detail::prepare_cancel_scheduled(sender, std::move(sequence_numbers), call),
        std::forward<Token>(token));
}

// Twins of the functions of `SessionReceiver`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<SessionReceiver, Token> async_accept(
    const Client& client, const std::string& entity, const std::string& session_id,
    SessionReceiverOptions options = {}, detail::AsyncCallOptions call = {},
    Token&& token = Token{}) {
    return detail::initiate(
        detail::prepare_accept(client, entity, session_id, std::move(options), call),
        std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<SessionReceiver, Token> async_accept_next(
    const Client& client, const std::string& entity, SessionReceiverOptions options = {},
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_accept_next(client, entity, std::move(options), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::optional<SessionReceiver>, Token> async_accept_next_if_any(
    const Client& client, const std::string& entity, Timeout wait = Duration::zero(),
    SessionReceiverOptions options = {}, detail::AsyncCallOptions call = {},
    Token&& token = Token{}) {
    return detail::initiate(
        detail::prepare_accept_next_if_any(client, entity, wait, std::move(options), call),
        std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<SessionMessage>, Token> async_receive(
    const SessionReceiver& receiver, std::size_t max_messages, Timeout wait = Duration::max(),
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_receive(receiver, max_messages, wait, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::optional<SessionMessage>, Token> async_receive_one(
    const SessionReceiver& receiver, Timeout wait = Duration::max(),
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_receive_one(receiver, wait, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<SessionMessage>, Token> async_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(
        detail::prepare_receive_deferred(receiver, std::move(sequence_numbers), call),
        std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::optional<std::string>, Token> async_state(
    const SessionReceiver& receiver, detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_state(receiver, call), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_set_state(const SessionReceiver& receiver,
                                                         std::optional<std::string> state,
                                                         detail::AsyncCallOptions call = {},
                                                         Token&& token = Token{}) {
    return detail::initiate(detail::prepare_set_state(receiver, std::move(state), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<Deadline, Token> async_renew_lock(const SessionReceiver& receiver,
                                                              detail::AsyncCallOptions call = {},
                                                              Token&& token = Token{}) {
    return detail::initiate(detail::prepare_renew_lock(receiver, call), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_close(const SessionReceiver& receiver,
                                                     detail::AsyncCallOptions call = {},
                                                     Token&& token = Token{}) {
    return detail::initiate(detail::prepare_close(receiver, call), std::forward<Token>(token));
}

// Twins of the functions of `Receiver`; `async_open_receiver` is that of `Receiver::open`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<Receiver, Token> async_open_receiver(const Client& client,
                                                                 const std::string& entity,
                                                                 ReceiverOptions options = {},
                                                                 detail::AsyncCallOptions call = {},
                                                                 Token&& token = Token{}) {
    return detail::initiate(detail::prepare_open_receiver(client, entity, std::move(options), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<LockedMessage>, Token> async_receive(
    const Receiver& receiver, std::size_t max_messages, Timeout wait = Duration::max(),
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_receive(receiver, max_messages, wait, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::optional<LockedMessage>, Token> async_receive_one(
    const Receiver& receiver, Timeout wait = Duration::max(), detail::AsyncCallOptions call = {},
    Token&& token = Token{}) {
    return detail::initiate(detail::prepare_receive_one(receiver, wait, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<LockedMessage>, Token> async_receive_deferred(
    const Receiver& receiver, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(
        detail::prepare_receive_deferred(receiver, std::move(sequence_numbers), call),
        std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_close(const Receiver& receiver,
                                                     detail::AsyncCallOptions call = {},
                                                     Token&& token = Token{}) {
    return detail::initiate(detail::prepare_close(receiver, call), std::forward<Token>(token));
}

// Twins of the functions of `LockedMessage`, which is also `SessionMessage`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<Deadline, Token> async_renew_lock(const LockedMessage& message,
                                                              detail::AsyncCallOptions call = {},
                                                              Token&& token = Token{}) {
    return detail::initiate(detail::prepare_renew_lock(message, call), std::forward<Token>(token));
}

// Settling: like its twin, the function decides the message before it returns. Await the result of
// `use_awaitable`: otherwise the message stays decided and is never settled.
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_complete(const LockedMessage& message,
                                                        detail::AsyncCallOptions call = {},
                                                        Token&& token = Token{}) {
    return detail::initiate(detail::prepare_complete(message, call), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_abandon(const LockedMessage& message,
                                                       Properties properties_to_modify = {},
                                                       detail::AsyncCallOptions call = {},
                                                       Token&& token = Token{}) {
    return detail::initiate(detail::prepare_abandon(message, std::move(properties_to_modify), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_release(const LockedMessage& message,
                                                       detail::AsyncCallOptions call = {},
                                                       Token&& token = Token{}) {
    return detail::initiate(detail::prepare_release(message, call), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_defer(const LockedMessage& message,
                                                     Properties properties_to_modify = {},
                                                     detail::AsyncCallOptions call = {},
                                                     Token&& token = Token{}) {
    return detail::initiate(detail::prepare_defer(message, std::move(properties_to_modify), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_dead_letter(const LockedMessage& message,
                                                           std::string reason = {},
                                                           std::string description = {},
                                                           Properties properties_to_modify = {},
                                                           detail::AsyncCallOptions call = {},
                                                           Token&& token = Token{}) {
    return detail::initiate(detail::prepare_dead_letter(message, std::move(reason),
                                                        std::move(description),
                                                        std::move(properties_to_modify), call),
                            std::forward<Token>(token));
}

// Twins of the functions of `Browser`, and of `list_sessions`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<ReceivedMessage>, Token> async_peek(
    Browser& browser, std::uint32_t max_messages, detail::AsyncCallOptions call = {},
    Token&& token = Token{}) {
    return detail::initiate(detail::prepare_peek(browser, max_messages, call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::optional<ReceivedMessage>, Token> async_next(
    Browser& browser, Timeout wait = Duration::max(), detail::AsyncCallOptions call = {},
    Token&& token = Token{}) {
    return detail::initiate(detail::prepare_next(browser, wait, call), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<std::string>, Token> async_list_sessions(
    const Client& client, const std::string& entity, const ListSessionsOptions& options = {},
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_list_sessions(client, entity, options, call),
                            std::forward<Token>(token));
}

// Twin of `purge`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::uint64_t, Token> async_purge(const Client& client,
                                                              const std::string& entity,
                                                              const PurgeOptions& options = {},
                                                              detail::AsyncCallOptions call = {},
                                                              Token&& token = Token{}) {
    return detail::initiate(detail::prepare_purge(client, entity, options, call),
                            std::forward<Token>(token));
}

// Twins of the functions of `RuleManager`: `add`, `remove` and `list`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_add_rule(const RuleManager& rules, Rule rule,
                                                        detail::AsyncCallOptions call = {},
                                                        Token&& token = Token{}) {
    return detail::initiate(detail::prepare_add_rule(rules, std::move(rule), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_remove_rule(const RuleManager& rules,
                                                           std::string name,
                                                           detail::AsyncCallOptions call = {},
                                                           Token&& token = Token{}) {
    return detail::initiate(detail::prepare_remove_rule(rules, std::move(name), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<Rule>, Token> async_list_rules(
    const RuleManager& rules, detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_list_rules(rules, call), std::forward<Token>(token));
}

// Twin of `redrive`
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::AsyncRedrive<Token> async_redrive(const Client& client,
                                                        const std::string& entity,
                                                        RedriveOptions options = {},
                                                        detail::AsyncCallOptions call = {},
                                                        Token&& token = Token{}) {
    return detail::initiate(detail::prepare_redrive(client, entity, std::move(options), call),
                            std::forward<Token>(token));
}

// Twins of `wait` of `SessionProcessor` and `Processor`. A handler of that processor, also one that
// is a coroutine, may not call them: they throw `invalid_state`, as `wait` does.
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<StopReport, Token> async_wait(const SessionProcessor& processor,
                                                          detail::AsyncCallOptions call = {},
                                                          Token&& token = Token{}) {
    return detail::initiate(detail::prepare_wait(processor, call), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<StopReport, Token> async_wait(const Processor& processor,
                                                          detail::AsyncCallOptions call = {},
                                                          Token&& token = Token{}) {
    return detail::initiate(detail::prepare_wait(processor, call), std::forward<Token>(token));
}

// Twins of `stop` of `SessionProcessor` and `Processor`. Like its twin, the function requests the
// stop at once, and the timeout counts from there. The operation waits for the end of the stop and
// returns its report. In a handler of that processor it does not wait, as `stop` there. Its only
// error is `cancelled`: it waits no more, and the processor stops nevertheless.
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<StopReport, Token> async_stop(SessionProcessor& processor,
                                                          const StopOptions& options = {},
                                                          Token&& token = Token{}) {
    return detail::initiate(detail::prepare_stop(processor, options), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<StopReport, Token> async_stop(Processor& processor,
                                                          const StopOptions& options = {},
                                                          Token&& token = Token{}) {
    return detail::initiate(detail::prepare_stop(processor, options), std::forward<Token>(token));
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
    Callback<detail::net::awaitable<void>(MessageContext&)> handler) {
    return detail::coroutine_handler<MessageContext&>(std::move(handler));
}

/// Makes a handler of batches from a coroutine. It runs as a handler of single messages does, but
/// under the operation context of the batch (see `SessionProcessor::on_messages`).
[[nodiscard]] inline BatchHandler coroutine(
    Callback<detail::net::awaitable<void>(std::span<MessageContext>)> handler) {
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
    Callback<detail::net::awaitable<void>(SessionContext&)> handler) {
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
    Callback<detail::net::awaitable<void>(SessionContext&, CloseReason)> handler) {
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
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::optional<std::string>, Token> async_state(
    const SessionContext& session, detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(detail::prepare_state(session, call), std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<void, Token> async_set_state(const SessionContext& session,
                                                         std::optional<std::string> state,
                                                         detail::AsyncCallOptions call = {},
                                                         Token&& token = Token{}) {
    return detail::initiate(detail::prepare_set_state(session, std::move(state), call),
                            std::forward<Token>(token));
}
template <typename Token = detail::UseAwaitable>
[[nodiscard]] detail::Async<std::vector<SessionMessage>, Token> async_receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    detail::AsyncCallOptions call = {}, Token&& token = Token{}) {
    return detail::initiate(
        detail::prepare_receive_deferred(session, std::move(sequence_numbers), call),
        std::forward<Token>(token));
}

} // namespace sessionq::inline v1::inline SESSIONQ_ASIO_ADAPTER
