// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>

#include "amqp/sender_channel.hpp"
#include "groups/entity_link.hpp"
#include "groups/group_receiver.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::groups {

/// Lets the client use a broker with message groups like a broker with sessions: each group is a
/// session. A client that connects to such a broker has an endpoint for each receive thread.
///
/// All entities share one connection. The groups of an entity share a receiver link. Each entity
/// that messages are sent to has a sender. The endpoint is made, used and destroyed on the loop's
/// thread.
class Endpoint final : public ports::Endpoint {
public:
    Endpoint(core::EventLoop& loop, asio::io_context& io, const EndpointSettings& settings);
    ~Endpoint() override;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    /// Connects to the broker. Fails if the address, the credential or the product is wrong. After
    /// a success, the broker's capabilities are known.
    void connect(ports::DoneHandler handler);

    [[nodiscard]] core::EventLoop& loop() noexcept override { return connection_.loop(); }
    /// Until the dialect is known, the capabilities that all dialects have.
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override {
        return connection_.capabilities();
    }

    void add_status(std::vector<core::ConnectionStatus>& into) const override {
        into.push_back(connection_.status());
    }
    [[nodiscard]] const core::ConnectionCounts* connections() const noexcept override {
        return &connection_.counts();
    }

    void add_budget(std::size_t bytes) override { context_.room->join(bytes); }
    void remove_budget(std::size_t bytes) override { context_.room->part(bytes); }

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
    void open_entity(ports::RequestId id, ports::AcceptRequest request,
                     ports::AcceptHandler handler);
    [[nodiscard]] amqp::SenderChannel& sender_for(const std::string& entity);
    void on_finished(const ReceiverSettings& terms);
    void expire_accepts();
    template <typename Handler, typename Result>
    ports::RequestId reply(Handler handler, Result result);

    DialectConnection connection_;
    core::ReplyQueue replies_;
    UnansweredIds unanswered_{};
    ports::AcceptBook accepts_;
    timing::Timer accept_timer_{timing::Timer::calling<&Endpoint::expire_accepts>(this)};
    ReceiverContext context_;
    std::map<ReceiverSettings, std::unique_ptr<GroupReceiver>> receivers_{};
    EntityOpening::Links entity_links_{};
    std::map<std::string, std::unique_ptr<amqp::SenderChannel>> senders_{};
    ports::RequestId last_request_{0};
};

} // namespace sessionq::groups
