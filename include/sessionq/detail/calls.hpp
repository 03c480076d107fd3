// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/browser.hpp>
#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/detail/call.hpp>
#include <sessionq/message_batch.hpp>
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
#include <sessionq/session_message.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/session_receiver.hpp>
#include <sessionq/token_credential.hpp>

/// The public functions that wait, as calls that an adapter starts. Each checks its arguments and
/// captures the ambient context at once. Not for applications.
namespace sessionq::detail {

template <>
Client empty_result<Client>();
template <>
SessionReceiver empty_result<SessionReceiver>();
template <>
Receiver empty_result<Receiver>();
template <>
MessageBatch empty_result<MessageBatch>();

// Client. Those that connect start its threads and read the files of `tls` at once.
[[nodiscard]] CallPtr<Client> prepare_connect(std::string_view connection_string,
                                              const ClientOptions& options, const TlsOptions& tls);
[[nodiscard]] CallPtr<Client> prepare_connect(const char* connection_string,
                                              const ClientOptions& options, const TlsOptions& tls);
[[nodiscard]] CallPtr<Client> prepare_connect(std::string_view where,
                                              std::shared_ptr<TokenCredential> credential,
                                              const ClientOptions& options, const TlsOptions& tls);
[[nodiscard]] CallPtr<Client> prepare_connect(std::string_view where,
                                              const NamedKeyCredential& credential,
                                              const ClientOptions& options, const TlsOptions& tls);

// Sender
[[nodiscard]] CallPtr<void> prepare_send(const Sender& sender, Message message,
                                         const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_send_all(const Sender& sender, std::vector<Message> messages,
                                             const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_send(const Sender& sender, MessageBatch batch,
                                         const CallOptions& call);
[[nodiscard]] CallPtr<MessageBatch> prepare_create_batch(const Sender& sender,
                                                         std::uint64_t max_bytes,
                                                         const CallOptions& call);
[[nodiscard]] CallPtr<std::int64_t> prepare_schedule(const Sender& sender, Message message,
                                                     WallTime when, const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<std::int64_t>> prepare_schedule_all(const Sender& sender,
                                                                      std::vector<Message> messages,
                                                                      WallTime when,
                                                                      const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_cancel_scheduled(const Sender& sender,
                                                     std::vector<std::int64_t> sequence_numbers,
                                                     const CallOptions& call);

// SessionReceiver
[[nodiscard]] CallPtr<SessionReceiver> prepare_accept(const Client& client,
                                                      const std::string& entity,
                                                      const std::string& session_id,
                                                      SessionReceiverOptions options,
                                                      const CallOptions& call);
[[nodiscard]] CallPtr<SessionReceiver> prepare_accept_next(const Client& client,
                                                           const std::string& entity,
                                                           SessionReceiverOptions options,
                                                           const CallOptions& call);
[[nodiscard]] CallPtr<std::optional<SessionReceiver>> prepare_accept_next_if_any(
    const Client& client, const std::string& entity, Duration wait, SessionReceiverOptions options,
    const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<SessionMessage>> prepare_receive(const SessionReceiver& receiver,
                                                                   std::size_t max_messages,
                                                                   Duration wait,
                                                                   const CallOptions& call);
[[nodiscard]] CallPtr<std::optional<SessionMessage>> prepare_receive_one(
    const SessionReceiver& receiver, Duration wait, const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<SessionMessage>> prepare_receive_deferred(
    const SessionReceiver& receiver, std::vector<std::int64_t> sequence_numbers,
    const CallOptions& call);
[[nodiscard]] CallPtr<std::optional<std::string>> prepare_state(const SessionReceiver& receiver,
                                                                const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_set_state(const SessionReceiver& receiver,
                                              std::optional<std::string> state,
                                              const CallOptions& call);
[[nodiscard]] CallPtr<Deadline> prepare_renew_lock(const SessionReceiver& receiver,
                                                   const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_close(const SessionReceiver& receiver, const CallOptions& call);

// Receiver
[[nodiscard]] CallPtr<Receiver> prepare_open_receiver(const Client& client,
                                                      const std::string& entity,
                                                      ReceiverOptions options,
                                                      const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<LockedMessage>> prepare_receive(const Receiver& receiver,
                                                                  std::size_t max_messages,
                                                                  Duration wait,
                                                                  const CallOptions& call);
[[nodiscard]] CallPtr<std::optional<LockedMessage>> prepare_receive_one(const Receiver& receiver,
                                                                        Duration wait,
                                                                        const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<LockedMessage>> prepare_receive_deferred(
    const Receiver& receiver, std::vector<std::int64_t> sequence_numbers, const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_close(const Receiver& receiver, const CallOptions& call);

// LockedMessage. Those that settle decide the message at once.
[[nodiscard]] CallPtr<Deadline> prepare_renew_lock(const LockedMessage& message,
                                                   const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_complete(const LockedMessage& message, const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_abandon(const LockedMessage& message,
                                            Properties properties_to_modify,
                                            const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_release(const LockedMessage& message, const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_defer(const LockedMessage& message,
                                          Properties properties_to_modify, const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_dead_letter(const LockedMessage& message, std::string reason,
                                                std::string description,
                                                Properties properties_to_modify,
                                                const CallOptions& call);

// Browser and sessions
[[nodiscard]] CallPtr<std::vector<ReceivedMessage>> prepare_peek(Browser& browser,
                                                                 std::uint32_t max_messages,
                                                                 const CallOptions& call);
[[nodiscard]] CallPtr<std::optional<ReceivedMessage>> prepare_next(Browser& browser, Duration wait,
                                                                   const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<std::string>> prepare_list_sessions(
    const Client& client, const std::string& entity, const ListSessionsOptions& options,
    const CallOptions& call);

// Deleting messages
[[nodiscard]] CallPtr<std::uint64_t> prepare_purge(const Client& client, const std::string& entity,
                                                   const PurgeOptions& options,
                                                   const CallOptions& call);

// RuleManager
[[nodiscard]] CallPtr<void> prepare_add_rule(const RuleManager& rules, Rule rule,
                                             const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_remove_rule(const RuleManager& rules, std::string name,
                                                const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<Rule>> prepare_list_rules(const RuleManager& rules,
                                                            const CallOptions& call);

// SessionProcessor and Processor
[[nodiscard]] CallPtr<StopReport> prepare_wait(const SessionProcessor& processor,
                                               const CallOptions& call);
[[nodiscard]] CallPtr<StopReport> prepare_wait(const Processor& processor, const CallOptions& call);
/// They request the stop at once.
[[nodiscard]] CallPtr<StopReport> prepare_stop(const SessionProcessor& processor,
                                               const StopOptions& options);
[[nodiscard]] CallPtr<StopReport> prepare_stop(const Processor& processor,
                                               const StopOptions& options);

// Dead letters

/// A redrive, one request after another.
class RedriveSteps {
public:
    RedriveSteps() = default;
    virtual ~RedriveSteps() = default;
    RedriveSteps(const RedriveSteps&) = delete;
    RedriveSteps& operator=(const RedriveSteps&) = delete;

    /// The next request. Take its answer before the next one. Null: nothing is left to do. Throws
    /// if the redrive cannot go on.
    [[nodiscard]] virtual CallPtr<void> next() = 0;
    [[nodiscard]] virtual RedriveReport report() const = 0;
};

[[nodiscard]] std::unique_ptr<RedriveSteps> prepare_redrive(const Client& client,
                                                            const std::string& entity,
                                                            RedriveOptions options,
                                                            const CallOptions& call);

// SessionContext
[[nodiscard]] CallPtr<std::optional<std::string>> prepare_state(const SessionContext& session,
                                                                const CallOptions& call);
[[nodiscard]] CallPtr<void> prepare_set_state(const SessionContext& session,
                                              std::optional<std::string> state,
                                              const CallOptions& call);
[[nodiscard]] CallPtr<std::vector<SessionMessage>> prepare_receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    const CallOptions& call);

} // namespace sessionq::detail
