// SPDX-License-Identifier: MIT
#include <sessionq/detail/calls.hpp>

#include <utility>

#include "client/browsing/browser_core.hpp"
#include "client/calls/answering.hpp"
#include "client/processors/processor_runtime.hpp"
#include "client/processors/session_deferred.hpp"
#include "client/processors/session_state.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "client/redrive/purge_run.hpp"
#include "client/rule_manager_core.hpp"
#include "client/sending/sender_core.hpp"
#include "core/access.hpp"

namespace sessionq::detail {

template <>
Client empty_result<Client>() {
    return detail::client::Access::make<Client>(nullptr);
}

template <>
SessionReceiver empty_result<SessionReceiver>() {
    return detail::client::Access::make<SessionReceiver>(nullptr);
}

template <>
Receiver empty_result<Receiver>() {
    return detail::client::Access::make<Receiver>(nullptr);
}

template <>
MessageBatch empty_result<MessageBatch>() {
    return MessageBatch{0};
}

CallPtr<void> prepare_send(const Sender& sender, Message message, const CallOptions& call) {
    return prepare_send_all(sender, detail::client::SenderCore::batch_of(std::move(message)), call);
}

CallPtr<void> prepare_send_all(const Sender& sender, std::vector<Message> messages,
                               const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(sender)->send(std::move(messages), call));
}

CallPtr<void> prepare_send(const Sender& sender, MessageBatch batch, const CallOptions& call) {
    return prepare_send_all(sender, detail::client::Access::take_messages(std::move(batch)), call);
}

CallPtr<MessageBatch> prepare_create_batch(const Sender& sender, std::uint64_t max_bytes,
                                           const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(sender)->create_batch(max_bytes, call));
}

CallPtr<std::int64_t> prepare_schedule(const Sender& sender, Message message, WallTime when,
                                       const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(sender)->schedule(std::move(message), when, call));
}

CallPtr<std::vector<std::int64_t>> prepare_schedule_all(const Sender& sender,
                                                        std::vector<Message> messages,
                                                        WallTime when, const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(sender)->schedule(std::move(messages), when, call));
}

CallPtr<void> prepare_cancel_scheduled(const Sender& sender,
                                       std::vector<std::int64_t> sequence_numbers,
                                       const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(sender)->cancel_scheduled(std::move(sequence_numbers), call));
}

CallPtr<SessionReceiver> prepare_accept(const Client& client, const std::string& entity,
                                        const std::string& session_id,
                                        SessionReceiverOptions options, const CallOptions& call) {
    return detail::client::prepared(detail::client::accept_session<SessionReceiver>(
        client,
        {.entity = entity,
         .session_id = session_id,
         .receiver = detail::client::settings_of(options)},
        call));
}

CallPtr<SessionReceiver> prepare_accept_next(const Client& client, const std::string& entity,
                                             SessionReceiverOptions options,
                                             const CallOptions& call) {
    return detail::client::prepared(detail::client::accept_session<SessionReceiver>(
        client, {.entity = entity, .receiver = detail::client::settings_of(options)}, call));
}

CallPtr<std::optional<SessionReceiver>> prepare_accept_next_if_any(const Client& client,
                                                                   const std::string& entity,
                                                                   Duration wait,
                                                                   SessionReceiverOptions options,
                                                                   const CallOptions& call) {
    return detail::client::prepared(detail::client::accept_session<std::optional<SessionReceiver>>(
        client, {.entity = entity, .wait = wait, .receiver = detail::client::settings_of(options)},
        call));
}

CallPtr<std::vector<SessionMessage>> prepare_receive(const SessionReceiver& receiver,
                                                     std::size_t max_messages, Duration wait,
                                                     const CallOptions& call) {
    return detail::client::prepared(detail::client::receive(receiver, max_messages, wait, call));
}

CallPtr<std::optional<SessionMessage>> prepare_receive_one(const SessionReceiver& receiver,
                                                           Duration wait, const CallOptions& call) {
    return detail::client::prepared(detail::client::receive_one(receiver, wait, call));
}

CallPtr<std::vector<SessionMessage>> prepare_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const CallOptions& call) {
    return detail::client::prepared(
        detail::client::receive_deferred(receiver, std::move(sequence_numbers), call));
}

CallPtr<std::optional<std::string>> prepare_state(const SessionReceiver& receiver,
                                                  const CallOptions& call) {
    return detail::client::prepared(detail::client::get_state(receiver, call));
}

CallPtr<void> prepare_set_state(const SessionReceiver& receiver, std::optional<std::string> state,
                                const CallOptions& call) {
    return detail::client::prepared(detail::client::set_state(receiver, std::move(state), call));
}

CallPtr<Deadline> prepare_renew_lock(const SessionReceiver& receiver, const CallOptions& call) {
    return detail::client::prepared(detail::client::renew_lock(receiver, call));
}

CallPtr<void> prepare_close(const SessionReceiver& receiver, const CallOptions& call) {
    return detail::client::prepared(detail::client::close(receiver, call));
}

CallPtr<Receiver> prepare_open_receiver(const Client& client, const std::string& entity,
                                        ReceiverOptions options, const CallOptions& call) {
    return detail::client::prepared(detail::client::open_receiver(client, entity, options, call));
}

CallPtr<std::vector<LockedMessage>> prepare_receive(const Receiver& receiver,
                                                    std::size_t max_messages, Duration wait,
                                                    const CallOptions& call) {
    return detail::client::prepared(detail::client::receive(receiver, max_messages, wait, call));
}

CallPtr<std::optional<LockedMessage>> prepare_receive_one(const Receiver& receiver, Duration wait,
                                                          const CallOptions& call) {
    return detail::client::prepared(detail::client::receive_one(receiver, wait, call));
}

CallPtr<std::vector<LockedMessage>> prepare_receive_deferred(
    const Receiver& receiver, std::vector<std::int64_t> sequence_numbers, const CallOptions& call) {
    return detail::client::prepared(
        detail::client::receive_deferred(receiver, std::move(sequence_numbers), call));
}

CallPtr<void> prepare_close(const Receiver& receiver, const CallOptions& call) {
    return detail::client::prepared(detail::client::close(receiver, call));
}

CallPtr<Deadline> prepare_renew_lock(const LockedMessage& message, const CallOptions& call) {
    return detail::client::prepared(detail::client::renew_lock(message, call));
}

CallPtr<void> prepare_complete(const LockedMessage& message, const CallOptions& call) {
    return detail::client::prepared(
        detail::client::settle(message, ports::Outcome::complete, call));
}

CallPtr<void> prepare_abandon(const LockedMessage& message, Properties properties_to_modify,
                              const CallOptions& call) {
    return detail::client::prepared(detail::client::settle(message, ports::Outcome::abandon, call,
                                                           std::move(properties_to_modify)));
}

CallPtr<void> prepare_release(const LockedMessage& message, const CallOptions& call) {
    return detail::client::prepared(detail::client::settle(message, ports::Outcome::release, call));
}

CallPtr<void> prepare_defer(const LockedMessage& message, Properties properties_to_modify,
                            const CallOptions& call) {
    return detail::client::prepared(detail::client::settle(message, ports::Outcome::defer, call,
                                                           std::move(properties_to_modify)));
}

CallPtr<void> prepare_dead_letter(const LockedMessage& message, std::string reason,
                                  std::string description, Properties properties_to_modify,
                                  const CallOptions& call) {
    return detail::client::prepared(detail::client::settle(
        message, ports::Outcome::dead_letter, call, std::move(properties_to_modify),
        {.reason = std::move(reason), .description = std::move(description)}));
}

CallPtr<std::vector<ReceivedMessage>> prepare_peek(Browser& browser, std::uint32_t max_messages,
                                                   const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(browser)->peek(browser, max_messages, call));
}

CallPtr<std::optional<ReceivedMessage>> prepare_next(Browser& browser, Duration wait,
                                                     const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(browser)->next(browser, wait, call));
}

CallPtr<std::vector<std::string>> prepare_list_sessions(const Client& client,
                                                        const std::string& entity,
                                                        const ListSessionsOptions& options,
                                                        const CallOptions& call) {
    return detail::client::prepared(
        detail::client::list_all_sessions(client, entity, options, call));
}

CallPtr<std::uint64_t> prepare_purge(const Client& client, const std::string& entity,
                                     const PurgeOptions& options, const CallOptions& call) {
    return detail::client::prepared(detail::client::purge_all(client, entity, options, call));
}

CallPtr<void> prepare_add_rule(const RuleManager& rules, Rule rule, const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(rules)->add(std::move(rule), call));
}

CallPtr<void> prepare_remove_rule(const RuleManager& rules, std::string name,
                                  const CallOptions& call) {
    return detail::client::prepared(
        detail::client::Access::core(rules)->remove(std::move(name), call));
}

CallPtr<std::vector<Rule>> prepare_list_rules(const RuleManager& rules, const CallOptions& call) {
    return detail::client::prepared(detail::client::Access::core(rules)->list(call));
}

CallPtr<StopReport> prepare_wait(const SessionProcessor& processor, const CallOptions& call) {
    return detail::client::prepared(detail::client::Access::runtime(processor)->wait(call));
}

CallPtr<StopReport> prepare_wait(const Processor& processor, const CallOptions& call) {
    return detail::client::prepared(detail::client::Access::runtime(processor)->wait(call));
}

CallPtr<StopReport> prepare_stop(const SessionProcessor& processor, const StopOptions& options) {
    return detail::client::prepared(
        detail::client::Access::runtime(processor)->begin_stop(options));
}

CallPtr<StopReport> prepare_stop(const Processor& processor, const StopOptions& options) {
    return detail::client::prepared(
        detail::client::Access::runtime(processor)->begin_stop(options));
}

CallPtr<std::optional<std::string>> prepare_state(const SessionContext& session,
                                                  const CallOptions& call) {
    return detail::client::prepared(detail::client::read_state(session, call));
}

CallPtr<void> prepare_set_state(const SessionContext& session, std::optional<std::string> state,
                                const CallOptions& call) {
    return detail::client::prepared(detail::client::write_state(session, std::move(state), call));
}

CallPtr<std::vector<SessionMessage>> prepare_receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    const CallOptions& call) {
    return detail::client::prepared(
        detail::client::receive_deferred(session, std::move(sequence_numbers), call));
}

} // namespace sessionq::detail
