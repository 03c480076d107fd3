// SPDX-License-Identifier: MIT
#include <sessionq/async.hpp>

#include <utility>

#include "client/awaiting.hpp"
#include "client/browser_core.hpp"
#include "client/purge_run.hpp"
#include "client/rule_manager_core.hpp"
#include "client/sender_core.hpp"
#include "client/session_deferred.hpp"
#include "client/session_receiver_operations.hpp"
#include "client/session_state.hpp"
#include "core/access.hpp"

// Each function makes its call at once, so that it checks arguments and captures the ambient
// context where it is called. The coroutine takes the call by value.
namespace sessionq {

asio::awaitable<void> async_send(const Sender& sender, Message message,
                                 const OperationContext& context) {
    return async_send(sender, client::SenderCore::batch_of(std::move(message)), context);
}

asio::awaitable<void> async_send(const Sender& sender, std::vector<Message> messages,
                                 const OperationContext& context) {
    return client::await(client::Access::core(sender)->send(std::move(messages), context));
}

asio::awaitable<void> async_send(const Sender& sender, MessageBatch batch,
                                 const OperationContext& context) {
    return async_send(sender, client::Access::take_messages(std::move(batch)), context);
}

asio::awaitable<MessageBatch> async_create_batch(const Sender& sender, std::uint64_t max_bytes,
                                                 const OperationContext& context) {
    return client::await(client::Access::core(sender)->create_batch(max_bytes, context));
}

asio::awaitable<std::int64_t> async_schedule(const Sender& sender, Message message, WallTime when,
                                             const OperationContext& context) {
    return client::await(client::Access::core(sender)->schedule(std::move(message), when, context));
}

asio::awaitable<std::vector<std::int64_t>> async_schedule(const Sender& sender,
                                                          std::vector<Message> messages,
                                                          WallTime when,
                                                          const OperationContext& context) {
    return client::await(
        client::Access::core(sender)->schedule(std::move(messages), when, context));
}

asio::awaitable<void> async_cancel_scheduled(const Sender& sender,
                                             std::vector<std::int64_t> sequence_numbers,
                                             const OperationContext& context) {
    return client::await(
        client::Access::core(sender)->cancel_scheduled(std::move(sequence_numbers), context));
}

asio::awaitable<SessionReceiver> async_accept(const Client& client, const std::string& entity,
                                              const std::string& session_id,
                                              SessionReceiverOptions options,
                                              const OperationContext& context) {
    return client::await(client::accept_session<SessionReceiver>(
        client, {.entity = entity, .session_id = session_id, .receiver = client::terms_of(options)},
        context));
}

asio::awaitable<SessionReceiver> async_accept_next(const Client& client, const std::string& entity,
                                                   SessionReceiverOptions options,
                                                   const OperationContext& context) {
    return client::await(client::accept_session<SessionReceiver>(
        client, {.entity = entity, .receiver = client::terms_of(options)}, context));
}

asio::awaitable<std::optional<SessionReceiver>> async_try_accept_next(
    const Client& client, const std::string& entity, Duration wait, SessionReceiverOptions options,
    const OperationContext& context) {
    return client::await(client::accept_session<std::optional<SessionReceiver>>(
        client, {.entity = entity, .wait = wait, .receiver = client::terms_of(options)}, context));
}

asio::awaitable<std::vector<SessionMessage>> async_receive(const SessionReceiver& receiver,
                                                           std::size_t max_messages, Duration wait,
                                                           const OperationContext& context) {
    return client::await(client::receive(receiver, max_messages, wait, context));
}

asio::awaitable<std::optional<SessionMessage>> async_receive_one(const SessionReceiver& receiver,
                                                                 Duration wait,
                                                                 const OperationContext& context) {
    return client::await(client::receive_one(receiver, wait, context));
}

asio::awaitable<std::vector<SessionMessage>> async_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context) {
    return client::await(client::receive_deferred(receiver, std::move(sequence_numbers), context));
}

asio::awaitable<std::optional<std::string>> async_state(const SessionReceiver& receiver,
                                                        const OperationContext& context) {
    return client::await(client::get_state(receiver, context));
}

asio::awaitable<void> async_set_state(const SessionReceiver& receiver,
                                      std::optional<std::string> state,
                                      const OperationContext& context) {
    return client::await(client::set_state(receiver, std::move(state), context));
}

asio::awaitable<Deadline> async_renew_lock(const SessionReceiver& receiver,
                                           const OperationContext& context) {
    return client::await(client::renew_lock(receiver, context));
}

asio::awaitable<void> async_close(const SessionReceiver& receiver,
                                  const OperationContext& context) {
    return client::await(client::close(receiver, context));
}

asio::awaitable<Receiver> async_open_receiver(const Client& client, const std::string& entity,
                                              ReceiverOptions options,
                                              const OperationContext& context) {
    return client::await(client::open_receiver(client, entity, options, context));
}

asio::awaitable<std::vector<LockedMessage>> async_receive(const Receiver& receiver,
                                                          std::size_t max_messages, Duration wait,
                                                          const OperationContext& context) {
    return client::await(client::receive(receiver, max_messages, wait, context));
}

asio::awaitable<std::optional<LockedMessage>> async_receive_one(const Receiver& receiver,
                                                                Duration wait,
                                                                const OperationContext& context) {
    return client::await(client::receive_one(receiver, wait, context));
}

asio::awaitable<std::vector<LockedMessage>> async_receive_deferred(
    const Receiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context) {
    return client::await(client::receive_deferred(receiver, std::move(sequence_numbers), context));
}

asio::awaitable<void> async_close(const Receiver& receiver, const OperationContext& context) {
    return client::await(client::close(receiver, context));
}

asio::awaitable<Deadline> async_renew_lock(const LockedMessage& message,
                                           const OperationContext& context) {
    return client::await(client::renew_lock(message, context));
}

asio::awaitable<void> async_complete(const LockedMessage& message,
                                     const OperationContext& context) {
    return client::await(client::settle(message, ports::Outcome::complete, context));
}

asio::awaitable<void> async_abandon(const LockedMessage& message, Properties properties_to_modify,
                                    const OperationContext& context) {
    return client::await(
        client::settle(message, ports::Outcome::abandon, context, std::move(properties_to_modify)));
}

asio::awaitable<void> async_release(const LockedMessage& message, const OperationContext& context) {
    return client::await(client::settle(message, ports::Outcome::release, context));
}

asio::awaitable<void> async_defer(const LockedMessage& message, Properties properties_to_modify,
                                  const OperationContext& context) {
    return client::await(
        client::settle(message, ports::Outcome::defer, context, std::move(properties_to_modify)));
}

asio::awaitable<void> async_dead_letter(const LockedMessage& message, std::string reason,
                                        std::string description, Properties properties_to_modify,
                                        const OperationContext& context) {
    return client::await(client::settle(
        message, ports::Outcome::dead_letter, context, std::move(properties_to_modify),
        {.reason = std::move(reason), .description = std::move(description)}));
}

asio::awaitable<std::vector<ReceivedMessage>> async_peek(Browser& browser,
                                                         std::uint32_t max_messages,
                                                         const OperationContext& context) {
    return client::await(client::Access::core(browser)->peek(browser, max_messages, context));
}

asio::awaitable<std::optional<ReceivedMessage>> async_next(Browser& browser, Duration wait,
                                                           const OperationContext& context) {
    return client::await(client::Access::core(browser)->next(browser, wait, context));
}

asio::awaitable<std::vector<std::string>> async_list_sessions(const Client& client,
                                                              const std::string& entity,
                                                              const ListSessionsOptions& options,
                                                              const OperationContext& context) {
    return client::await(client::list_all_sessions(client, entity, options, context));
}

asio::awaitable<std::vector<std::string>> async_list_sessions(const Client& client,
                                                              const std::string& entity,
                                                              const OperationContext& context) {
    return async_list_sessions(client, entity, ListSessionsOptions{}, context);
}

asio::awaitable<std::uint64_t> async_purge(const Client& client, const std::string& entity,
                                           const PurgeOptions& options,
                                           const OperationContext& context) {
    return client::await(client::purge_all(client, entity, options, context));
}

asio::awaitable<void> async_add_rule(const RuleManager& rules, Rule rule,
                                     const OperationContext& context) {
    return client::await(client::Access::core(rules)->add(std::move(rule), context));
}

asio::awaitable<void> async_remove_rule(const RuleManager& rules, std::string name,
                                        const OperationContext& context) {
    return client::await(client::Access::core(rules)->remove(std::move(name), context));
}

asio::awaitable<std::vector<Rule>> async_list_rules(const RuleManager& rules,
                                                    const OperationContext& context) {
    return client::await(client::Access::core(rules)->list(context));
}

asio::awaitable<std::optional<std::string>> async_state(const SessionContext& session,
                                                        const OperationContext& context) {
    return client::await(client::read_state(session, context));
}

asio::awaitable<void> async_set_state(const SessionContext& session,
                                      std::optional<std::string> state,
                                      const OperationContext& context) {
    return client::await(client::write_state(session, std::move(state), context));
}

asio::awaitable<std::vector<SessionMessage>> async_receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context) {
    return client::await(client::receive_deferred(session, std::move(sequence_numbers), context));
}

} // namespace sessionq
