// SPDX-License-Identifier: MIT
#include <sessionq/detail/calls.hpp>

#include <utility>

#include "client/browsing/browser_core.hpp"
#include "client/calls/answering.hpp"
#include "client/processors/session_deferred.hpp"
#include "client/processors/session_state.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "client/redrive/purge_run.hpp"
#include "client/rule_manager_core.hpp"
#include "client/sending/sender_core.hpp"
#include "core/access.hpp"

namespace sessionq::detail {

CallPtr<void> prepare_send(const Sender& sender, Message message, const OperationContext& context) {
    return prepare_send(sender, client::SenderCore::batch_of(std::move(message)), context);
}

CallPtr<void> prepare_send(const Sender& sender, std::vector<Message> messages,
                           const OperationContext& context) {
    return client::prepared(client::Access::core(sender)->send(std::move(messages), context));
}

CallPtr<void> prepare_send(const Sender& sender, MessageBatch batch,
                           const OperationContext& context) {
    return prepare_send(sender, client::Access::take_messages(std::move(batch)), context);
}

CallPtr<MessageBatch> prepare_create_batch(const Sender& sender, std::uint64_t max_bytes,
                                           const OperationContext& context) {
    return client::prepared(client::Access::core(sender)->create_batch(max_bytes, context));
}

CallPtr<std::int64_t> prepare_schedule(const Sender& sender, Message message, WallTime when,
                                       const OperationContext& context) {
    return client::prepared(
        client::Access::core(sender)->schedule(std::move(message), when, context));
}

CallPtr<std::vector<std::int64_t>> prepare_schedule(const Sender& sender,
                                                    std::vector<Message> messages, WallTime when,
                                                    const OperationContext& context) {
    return client::prepared(
        client::Access::core(sender)->schedule(std::move(messages), when, context));
}

CallPtr<void> prepare_cancel_scheduled(const Sender& sender,
                                       std::vector<std::int64_t> sequence_numbers,
                                       const OperationContext& context) {
    return client::prepared(
        client::Access::core(sender)->cancel_scheduled(std::move(sequence_numbers), context));
}

CallPtr<SessionReceiver> prepare_accept(const Client& client, const std::string& entity,
                                        const std::string& session_id,
                                        SessionReceiverOptions options,
                                        const OperationContext& context) {
    return client::prepared(client::accept_session<SessionReceiver>(
        client,
        {.entity = entity, .session_id = session_id, .receiver = client::settings_of(options)},
        context));
}

CallPtr<SessionReceiver> prepare_accept_next(const Client& client, const std::string& entity,
                                             SessionReceiverOptions options,
                                             const OperationContext& context) {
    return client::prepared(client::accept_session<SessionReceiver>(
        client, {.entity = entity, .receiver = client::settings_of(options)}, context));
}

CallPtr<std::optional<SessionReceiver>> prepare_try_accept_next(const Client& client,
                                                                const std::string& entity,
                                                                Duration wait,
                                                                SessionReceiverOptions options,
                                                                const OperationContext& context) {
    return client::prepared(client::accept_session<std::optional<SessionReceiver>>(
        client, {.entity = entity, .wait = wait, .receiver = client::settings_of(options)},
        context));
}

CallPtr<std::vector<SessionMessage>> prepare_receive(const SessionReceiver& receiver,
                                                     std::size_t max_messages, Duration wait,
                                                     const OperationContext& context) {
    return client::prepared(client::receive(receiver, max_messages, wait, context));
}

CallPtr<std::optional<SessionMessage>> prepare_receive_one(const SessionReceiver& receiver,
                                                           Duration wait,
                                                           const OperationContext& context) {
    return client::prepared(client::receive_one(receiver, wait, context));
}

CallPtr<std::vector<SessionMessage>> prepare_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context) {
    return client::prepared(
        client::receive_deferred(receiver, std::move(sequence_numbers), context));
}

CallPtr<std::optional<std::string>> prepare_state(const SessionReceiver& receiver,
                                                  const OperationContext& context) {
    return client::prepared(client::get_state(receiver, context));
}

CallPtr<void> prepare_set_state(const SessionReceiver& receiver, std::optional<std::string> state,
                                const OperationContext& context) {
    return client::prepared(client::set_state(receiver, std::move(state), context));
}

CallPtr<Deadline> prepare_renew_lock(const SessionReceiver& receiver,
                                     const OperationContext& context) {
    return client::prepared(client::renew_lock(receiver, context));
}

CallPtr<void> prepare_close(const SessionReceiver& receiver, const OperationContext& context) {
    return client::prepared(client::close(receiver, context));
}

CallPtr<Receiver> prepare_open_receiver(const Client& client, const std::string& entity,
                                        ReceiverOptions options, const OperationContext& context) {
    return client::prepared(client::open_receiver(client, entity, options, context));
}

CallPtr<std::vector<LockedMessage>> prepare_receive(const Receiver& receiver,
                                                    std::size_t max_messages, Duration wait,
                                                    const OperationContext& context) {
    return client::prepared(client::receive(receiver, max_messages, wait, context));
}

CallPtr<std::optional<LockedMessage>> prepare_receive_one(const Receiver& receiver, Duration wait,
                                                          const OperationContext& context) {
    return client::prepared(client::receive_one(receiver, wait, context));
}

CallPtr<std::vector<LockedMessage>> prepare_receive_deferred(
    const Receiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context) {
    return client::prepared(
        client::receive_deferred(receiver, std::move(sequence_numbers), context));
}

CallPtr<void> prepare_close(const Receiver& receiver, const OperationContext& context) {
    return client::prepared(client::close(receiver, context));
}

CallPtr<Deadline> prepare_renew_lock(const LockedMessage& message,
                                     const OperationContext& context) {
    return client::prepared(client::renew_lock(message, context));
}

CallPtr<void> prepare_complete(const LockedMessage& message, const OperationContext& context) {
    return client::prepared(client::settle(message, ports::Outcome::complete, context));
}

CallPtr<void> prepare_abandon(const LockedMessage& message, Properties properties_to_modify,
                              const OperationContext& context) {
    return client::prepared(
        client::settle(message, ports::Outcome::abandon, context, std::move(properties_to_modify)));
}

CallPtr<void> prepare_release(const LockedMessage& message, const OperationContext& context) {
    return client::prepared(client::settle(message, ports::Outcome::release, context));
}

CallPtr<void> prepare_defer(const LockedMessage& message, Properties properties_to_modify,
                            const OperationContext& context) {
    return client::prepared(
        client::settle(message, ports::Outcome::defer, context, std::move(properties_to_modify)));
}

CallPtr<void> prepare_dead_letter(const LockedMessage& message, std::string reason,
                                  std::string description, Properties properties_to_modify,
                                  const OperationContext& context) {
    return client::prepared(client::settle(
        message, ports::Outcome::dead_letter, context, std::move(properties_to_modify),
        {.reason = std::move(reason), .description = std::move(description)}));
}

CallPtr<std::vector<ReceivedMessage>> prepare_peek(Browser& browser, std::uint32_t max_messages,
                                                   const OperationContext& context) {
    return client::prepared(client::Access::core(browser)->peek(browser, max_messages, context));
}

CallPtr<std::optional<ReceivedMessage>> prepare_next(Browser& browser, Duration wait,
                                                     const OperationContext& context) {
    return client::prepared(client::Access::core(browser)->next(browser, wait, context));
}

CallPtr<std::vector<std::string>> prepare_list_sessions(const Client& client,
                                                        const std::string& entity,
                                                        const ListSessionsOptions& options,
                                                        const OperationContext& context) {
    return client::prepared(client::list_all_sessions(client, entity, options, context));
}

CallPtr<std::uint64_t> prepare_purge(const Client& client, const std::string& entity,
                                     const PurgeOptions& options, const OperationContext& context) {
    return client::prepared(client::purge_all(client, entity, options, context));
}

CallPtr<void> prepare_add_rule(const RuleManager& rules, Rule rule,
                               const OperationContext& context) {
    return client::prepared(client::Access::core(rules)->add(std::move(rule), context));
}

CallPtr<void> prepare_remove_rule(const RuleManager& rules, std::string name,
                                  const OperationContext& context) {
    return client::prepared(client::Access::core(rules)->remove(std::move(name), context));
}

CallPtr<std::vector<Rule>> prepare_list_rules(const RuleManager& rules,
                                              const OperationContext& context) {
    return client::prepared(client::Access::core(rules)->list(context));
}

CallPtr<std::optional<std::string>> prepare_state(const SessionContext& session,
                                                  const OperationContext& context) {
    return client::prepared(client::read_state(session, context));
}

CallPtr<void> prepare_set_state(const SessionContext& session, std::optional<std::string> state,
                                const OperationContext& context) {
    return client::prepared(client::write_state(session, std::move(state), context));
}

CallPtr<std::vector<SessionMessage>> prepare_receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    const OperationContext& context) {
    return client::prepared(
        client::receive_deferred(session, std::move(sequence_numbers), context));
}

} // namespace sessionq::detail
