// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "server/held_requests.hpp"
#include "server/peer.hpp"
#include "server/peer_link.hpp"
#include "server/request.hpp"

namespace sessionq::server {

/// A sender link of the peer that carries requests to a node. Requests wait, and use credit, while
/// the peer does not read its answers. Those that waited, for that or for a message, are answered
/// in turns: one event may end the waits of many.
class RequestLink final : public PeerLink, private SendRoom::Waiter {
public:
    using Responder = std::function<Answer(const Request&)>;

    RequestLink(PeerLinkOwner& owner, Peer& peer, amqp::ReceiverLinkPtr link, std::string entity,
                std::string node, AnswerStyle style, Responder responder);
    ~RequestLink() override;

    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

private:
    [[nodiscard]] amqp::Link& link() noexcept override { return *link_; }
    void resume() override { line_up(); }
    [[nodiscard]] bool has_room();
    /// `until` is when a held request's time is over. Unset: the request is new.
    void wait(Request request, std::optional<TimePoint> until);
    /// Answers the waiting requests, one in a turn, while there is room.
    void line_up();
    void answer_next();
    void count(std::ptrdiff_t requests, std::ptrdiff_t answers) noexcept;
    /// `until` as in `wait`.
    void answer(Request request, std::optional<TimePoint> until = {});
    void give_back(Request request, TimePoint until, const Failure* deletion);
    void send(const Answer& answer, const std::string& reply_to, const amqp::Value& message_id);

    Peer& peer_;
    amqp::ReceiverLinkPtr link_;
    const std::string node_;
    const AnswerStyle style_;
    const Responder responder_;
    HeldRequests held_;
    struct Waiting {
        Request request;
        std::optional<TimePoint> until;
    };
    std::deque<Waiting> waiting_{};      // for room or a turn, the oldest first
    bool is_in_line_{false};             // for a turn
    std::ptrdiff_t requests_in_work_{0}; // bytes of requests that go on in turns
    std::ptrdiff_t unsent_answers_{0};   // bytes of theirs, and of those that wait for a commit
    const std::shared_ptr<const RequestLink*> self_{
        std::make_shared<const RequestLink*>(this)}; // for callbacks that may outlive the link
};

} // namespace sessionq::server
