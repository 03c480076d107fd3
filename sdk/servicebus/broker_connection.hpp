// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>

#include "amqp/client_connection.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "servicebus/authorizer.hpp"
#include "servicebus/lock_clock.hpp"
#include "servicebus/request_channel.hpp"
#include "servicebus/session_pool.hpp"

namespace sessionq::detail::servicebus {

/// One connection to a broker with all that its users share: the rights to its nodes,
/// `$management`, the AMQP sessions of links, and its knowledge of the broker's clock. Bound to the
/// loop. Not to be destroyed from its handlers and its links' events.
class BrokerConnection final : private amqp::ClientConnectionEvents, private amqp::SessionListener {
public:
    using EngineHandler = RequestChannel::EngineHandler;

    /// The messages of sessions stay within `room`; null: within the widest windows.
    BrokerConnection(amqp::ConnectionHost& host, const EndpointSettings& settings,
                     core::ReceiveRoomPtr room = {});
    ~BrokerConnection() override;
    BrokerConnection(const BrokerConnection&) = delete;
    BrokerConnection& operator=(const BrokerConnection&) = delete;

    /// Runs the handler once `node` may be used, now or by a later turn; the engine is for use at
    /// once. An empty node needs a connection only.
    void when_usable(const std::string& node, EngineHandler handler);
    /// A use of the node failed. A right that the broker denied is asked for again.
    void failed(const std::string& node, const Failure& why);

    /// Sends a request to the $management of an entity; `RequestChannel` says how it ends.
    void manage(ports::RequestId id, const std::string& entity, Request request, Deadline deadline,
                RequestChannel::Handler handler);
    void give_up(ports::RequestId id);
    /// Ids of requests are used once, in the order in which they are given.
    [[nodiscard]] ports::RequestId next_request_id() noexcept { return ++last_id_; }

    /// A receiver link, in an AMQP session that it shares. Null: the peer allows no more.
    [[nodiscard]] amqp::ReceiverLinkPtr make_link(const std::string& name,
                                                  SessionPool::Id& session);
    void drop_link(amqp::ReceiverLinkPtr link, SessionPool::Id session);

    [[nodiscard]] core::ConnectionStatus status() const {
        core::ConnectionStatus status = connection_.status();
        status.broker_ahead = locks_.broker_ahead();
        return status;
    }
    [[nodiscard]] SessionPool& pool() noexcept { return pool_; }
    [[nodiscard]] LockClock& locks() noexcept { return locks_; }
    [[nodiscard]] core::EventLoop& loop() noexcept { return loop_; }
    [[nodiscard]] amqp::ClockReading reading() const noexcept {
        return {.now = loop_.now(), .wall = loop_.wall_now()};
    }
    /// Now, with a time that has passed on the broker's clock.
    [[nodiscard]] amqp::ClockReading brokers_reading() const noexcept {
        return {.now = loop_.now(), .wall = locks_.passed_by(loop_.now())};
    }
    [[nodiscard]] Deadline default_deadline() const noexcept {
        return Deadline::after(operation_timeout_, loop_.now());
    }
    [[nodiscard]] core::WeakHandle<BrokerConnection> handle() const noexcept {
        return anchor_.handle();
    }

private:
    [[nodiscard]] std::optional<Failure> on_connected(const amqp::Open& peer) override;
    void on_disconnected(const Failure& why) override;
    [[nodiscard]] Failure explain(const amqp::Condition& condition, std::string what) override;
    void on_session_ended(const amqp::Condition&) override {} // the links are told

    core::EventLoop& loop_;
    const Duration operation_timeout_;
    LockClock locks_{};
    SessionPool pool_{};
    std::map<SessionPool::Id, amqp::SessionPtr> sessions_{};
    core::ReplyQueue ended_; // of tasks that hold sessions: one may be telling its links
    ports::RequestId last_id_{0};
    std::string open_properties_{}; // of the peer
    amqp::ClientConnection connection_;
    Authorizer authorizer_;
    std::map<std::string, std::unique_ptr<RequestChannel>> management_{}; // by node
    const core::Anchor<BrokerConnection> anchor_{*this};
};

} // namespace sessionq::detail::servicebus
