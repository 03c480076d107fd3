// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>

#include "amqp/sender_channel.hpp"
#include "ports/accept_book.hpp"
#include "servicebus/connection_pool.hpp"
#include "servicebus/first_credit_trial.hpp"

namespace sessionq::detail::servicebus {

/// The ports in Azure Service Bus's dialect: one connection for all entities, and more of them only
/// for more sessions than one has channels for. Made, used and destroyed on the loop's thread.
class Endpoint final : public ports::Endpoint {
public:
    Endpoint(core::EventLoop& loop, asio::io_context& io, EndpointSettings settings);

    /// Connects, so that a wrong address or credential is known at once. A non-empty `entity` is
    /// also asked for the right to use it.
    void connect(const std::string& entity, ports::DoneHandler handler);

    [[nodiscard]] core::EventLoop& loop() noexcept override { return loop_; }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override;

    void add_status(std::vector<core::ConnectionStatus>& into) const override {
        connections_.add_status(into);
    }
    [[nodiscard]] const core::ConnectionCounts* connections() const noexcept override {
        return &connections_.counts();
    }

    void add_budget(std::size_t bytes) override { connections_.room().join(bytes); }
    void remove_budget(std::size_t bytes) override { connections_.room().part(bytes); }

    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override;
    void give_up(ports::RequestId id) override;
    ports::RequestId sending_limit(std::string entity, Deadline deadline,
                                   ports::SendingLimitHandler handler) override;
    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override;
    ports::RequestId cancel_scheduled(std::string entity,
                                      std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      ports::DoneHandler handler) override;
    ports::RequestId peek(ports::PeekRequest request, ports::PeekHandler handler) override;
    ports::RequestId list_sessions(ports::ListSessionsRequest request,
                                   ports::ListSessionsHandler handler) override;
    ports::RequestId delete_messages(ports::DeleteMessagesRequest request,
                                     ports::DeletedHandler handler) override;
    ports::RequestId manage_rules(ports::RulesRequest request,
                                  ports::RulesHandler handler) override;

private:
    void expire_accepts();
    [[nodiscard]] amqp::SenderChannel& sender_to(const std::string& entity);
    ports::RequestId schedule(ports::SendRequest request, ports::SendHandler handler);
    ports::RequestId ask(const std::string& entity, std::string operation, amqp::Map body,
                         Deadline deadline, ResponseHandler handler, Duration wait = {});

    core::EventLoop& loop_;
    ConnectionPool connections_;
    BrokerConnection& first_;
    FirstCreditTrial first_credit_{};
    core::ReplyQueue replies_;
    std::map<std::string, std::unique_ptr<amqp::SenderChannel>> senders_{};
    ports::AcceptBook accepts_;
    timing::Timer accept_timer_{timing::Timer::calling<&Endpoint::expire_accepts>(this)};
};

} // namespace sessionq::detail::servicebus
