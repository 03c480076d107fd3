#include <sessionq/async.hpp>

#include <utility>

#include <sessionq/error.hpp>

#include "client/access.hpp"
#include "client/awaiting.hpp"
#include "client/browser_core.hpp"
#include "client/coroutine_handler.hpp"
#include "client/sender_core.hpp"
#include "client/session_receiver_operations.hpp"
#include "client/session_state.hpp"

// Each function makes its operation at once, so that it checks arguments and captures the ambient
// context where it is called. The coroutines take the operation by value.
namespace sessionq {
namespace {

template <typename T>
asio::awaitable<void> await_done(client::Operation<T> operation) {
    co_await client::await(std::move(operation));
}

asio::awaitable<SessionReceiver> await_receiver(
    client::Operation<client::AcceptedSession> operation) {
    const auto client = operation.client;
    auto session = co_await client::await(std::move(operation));
    co_return client::Access::make_receiver(
        std::make_shared<client::HeldSession>(client, std::move(session)));
}

asio::awaitable<std::optional<SessionReceiver>> await_possible_receiver(
    client::Operation<client::AcceptedSession> operation) {
    try {
        co_return co_await await_receiver(std::move(operation));
    } catch (const Error& error) {
        if (error.failure().code != Errc::no_session_available) {
            throw;
        }
    }
    co_return std::nullopt;
}

asio::awaitable<std::vector<SessionMessage>> await_messages(
    client::HeldSessionPtr session, client::Operation<client::Deliveries> operation) {
    co_return client::to_messages(session, co_await client::await(std::move(operation)));
}

asio::awaitable<std::optional<SessionMessage>> await_message(
    client::HeldSessionPtr session, client::Operation<client::Deliveries> operation) {
    auto messages = co_await await_messages(std::move(session), std::move(operation));
    if (messages.empty()) {
        co_return std::nullopt;
    }
    co_return std::move(messages.front());
}

asio::awaitable<std::vector<ReceivedMessage>> await_page(
    Browser& browser, client::Operation<std::vector<ReceivedMessage>> operation) {
    auto messages = co_await client::await(std::move(operation));
    if (!messages.empty()) {
        browser.seek(messages.back().sequence_number() + 1);
    }
    co_return messages;
}

asio::awaitable<void> nothing_to_do() { co_return; }

asio::awaitable<std::vector<std::int64_t>> no_numbers() { co_return std::vector<std::int64_t>{}; }

asio::awaitable<std::int64_t> await_number(asio::awaitable<std::vector<std::int64_t>> numbers) {
    co_return (co_await std::move(numbers)).front();
}

asio::awaitable<void> await_settled(const SessionMessage& message, ports::Settlement settlement,
                                    const OperationContext& context) {
    return await_done(client::settle_operation(message, std::move(settlement), context));
}

} // namespace

asio::awaitable<void> async_send(const Sender& sender, Message message,
                                 const OperationContext& context) {
    std::vector<Message> messages;
    messages.push_back(std::move(message));
    return async_send(sender, std::move(messages), context);
}

asio::awaitable<void> async_send(const Sender& sender, std::vector<Message> messages,
                                 const OperationContext& context) {
    return messages.empty()
               ? nothing_to_do()
               : await_done(client::Access::core(sender).send(std::move(messages), context));
}

asio::awaitable<std::int64_t> async_schedule(const Sender& sender, Message message, WallTime when,
                                             const OperationContext& context) {
    std::vector<Message> messages;
    messages.push_back(std::move(message));
    return await_number(async_schedule(sender, std::move(messages), when, context));
}

asio::awaitable<std::vector<std::int64_t>> async_schedule(const Sender& sender,
                                                          std::vector<Message> messages,
                                                          WallTime when,
                                                          const OperationContext& context) {
    return messages.empty() ? no_numbers()
                            : client::await(client::Access::core(sender).schedule(
                                  std::move(messages), when, context));
}

asio::awaitable<void> async_cancel_scheduled(const Sender& sender,
                                             std::vector<std::int64_t> sequence_numbers,
                                             const OperationContext& context) {
    return sequence_numbers.empty() ? nothing_to_do()
                                    : await_done(client::Access::core(sender).cancel_scheduled(
                                          std::move(sequence_numbers), context));
}

asio::awaitable<SessionReceiver> async_accept(const Client& client, const std::string& entity,
                                              const std::string& session_id,
                                              SessionReceiverOptions options,
                                              const OperationContext& context) {
    return await_receiver(client::accept_operation(
        client::Access::core(client),
        {.entity = entity, .session_id = session_id, .options = options}, context));
}

asio::awaitable<SessionReceiver> async_accept_next(const Client& client, const std::string& entity,
                                                   SessionReceiverOptions options,
                                                   const OperationContext& context) {
    return await_receiver(client::accept_operation(
        client::Access::core(client), {.entity = entity, .options = options}, context));
}

asio::awaitable<std::optional<SessionReceiver>> async_try_accept_next(
    const Client& client, const std::string& entity, Duration wait, SessionReceiverOptions options,
    const OperationContext& context) {
    return await_possible_receiver(
        client::accept_operation(client::Access::core(client),
                                 {.entity = entity, .wait = wait, .options = options}, context));
}

asio::awaitable<std::vector<SessionMessage>> async_receive(const SessionReceiver& receiver,
                                                           std::size_t max_messages, Duration wait,
                                                           const OperationContext& context) {
    return await_messages(
        client::Access::session(receiver),
        client::receive_operation(client::Access::session(receiver), max_messages, wait, context));
}

asio::awaitable<std::optional<SessionMessage>> async_receive_one(const SessionReceiver& receiver,
                                                                 Duration wait,
                                                                 const OperationContext& context) {
    return await_message(
        client::Access::session(receiver),
        client::receive_operation(client::Access::session(receiver), 1, wait, context));
}

asio::awaitable<std::vector<SessionMessage>> async_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context) {
    return await_messages(client::Access::session(receiver),
                          client::receive_deferred_operation(client::Access::session(receiver),
                                                             std::move(sequence_numbers), context));
}

asio::awaitable<std::optional<std::string>> async_state(const SessionReceiver& receiver,
                                                        const OperationContext& context) {
    return client::await(client::get_state_operation(client::Access::session(receiver), context));
}

asio::awaitable<void> async_set_state(const SessionReceiver& receiver,
                                      std::optional<std::string> state,
                                      const OperationContext& context) {
    return await_done(
        client::set_state_operation(client::Access::session(receiver), std::move(state), context));
}

asio::awaitable<Deadline> async_renew_lock(const SessionReceiver& receiver,
                                           const OperationContext& context) {
    return client::await(client::renew_lock_operation(client::Access::session(receiver), context));
}

asio::awaitable<void> async_close(const SessionReceiver& receiver,
                                  const OperationContext& context) {
    return await_done(client::close_operation(client::Access::session(receiver), context));
}

asio::awaitable<void> async_complete(const SessionMessage& message,
                                     const OperationContext& context) {
    return await_settled(message, {.outcome = ports::Outcome::complete}, context);
}

asio::awaitable<void> async_abandon(const SessionMessage& message, Properties properties_to_modify,
                                    const OperationContext& context) {
    return await_settled(message,
                         {.outcome = ports::Outcome::abandon,
                          .properties_to_modify = std::move(properties_to_modify)},
                         context);
}

asio::awaitable<void> async_release(const SessionMessage& message,
                                    const OperationContext& context) {
    return await_settled(message, {.outcome = ports::Outcome::release}, context);
}

asio::awaitable<void> async_defer(const SessionMessage& message, Properties properties_to_modify,
                                  const OperationContext& context) {
    return await_settled(
        message,
        {.outcome = ports::Outcome::defer, .properties_to_modify = std::move(properties_to_modify)},
        context);
}

asio::awaitable<void> async_dead_letter(const SessionMessage& message, std::string reason,
                                        std::string description, Properties properties_to_modify,
                                        const OperationContext& context) {
    return await_settled(
        message,
        {.outcome = ports::Outcome::dead_letter,
         .dead_letter = {.reason = std::move(reason), .description = std::move(description)},
         .properties_to_modify = std::move(properties_to_modify)},
        context);
}

asio::awaitable<std::vector<ReceivedMessage>> async_peek(Browser& browser,
                                                         std::uint32_t max_messages,
                                                         const OperationContext& context) {
    return await_page(
        browser, client::Access::core(browser).peek(browser.position(), max_messages, context));
}

asio::awaitable<std::vector<std::string>> async_list_sessions(const Client& client,
                                                              const std::string& entity,
                                                              const OperationContext& context) {
    return client::await(
        client::list_sessions_operation(client::Access::core(client), entity, context));
}

MessageHandler coroutine(std::function<asio::awaitable<void>(MessageContext&)> handler) {
    return client::coroutine_handler(std::move(handler));
}

asio::awaitable<std::optional<std::string>> async_state(const SessionContext& session,
                                                        const OperationContext& context) {
    return client::await(client::get_state(session, context));
}

asio::awaitable<void> async_set_state(const SessionContext& session,
                                      std::optional<std::string> state,
                                      const OperationContext& context) {
    return await_done(client::set_state(session, std::move(state), context));
}

} // namespace sessionq
