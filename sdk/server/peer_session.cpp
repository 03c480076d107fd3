// SPDX-License-Identifier: MIT
#include "server/peer_session.hpp"

#include <algorithm>

#include "server/browse_feed.hpp"
#include "server/conditions.hpp"
#include "server/empty_feed.hpp"
#include "server/management.hpp"
#include "server/message_feed.hpp"
#include "server/message_intake.hpp"
#include "server/peer_connection.hpp"
#include "server/request_link.hpp"
#include "server/response_link.hpp"
#include "server/transaction_refusal.hpp"

namespace sessionq::server {
namespace {

constexpr const char* claims_node = "$cbs";

std::string management_node(const std::string& entity) { return entity + "/$management"; }

} // namespace

PeerSession::PeerSession(PeerConnection& connection, amqp::SessionPtr session)
    : connection_{connection}, session_{std::move(session)} {
    session_->set_listener(this);
}

PeerSession::~PeerSession() {
    while (!links_.empty()) {
        remove(*links_.front());
    }
}

template <typename Made>
Made& PeerSession::keep(std::unique_ptr<Made> made) {
    Made& kept = *made;
    links_.push_back(std::move(made));
    connection_.add(kept);
    return kept;
}

AttachDecision PeerSession::decide(const amqp::Link& link, bool peer_receives) {
    const amqp::Attach asked = link.remote();
    AttachDecision decision = decide_attach(asked, peer_receives);
    const auto refuse = [&](amqp::Condition why) {
        decision = {.refusal = std::move(why)};
        return decision;
    };
    if (std::max({link.name().size(), asked.source.address.size(), asked.target.address.size()}) >
        connection_.peer().limits.name_bytes) {
        return refuse(make_condition(condition::invalid_field,
                                     "the link's name or an address is longer than " +
                                         std::to_string(connection_.peer().limits.name_bytes) +
                                         " bytes"));
    }
    if (!connection_.has_room_for_link()) {
        return refuse(make_condition(condition::resource_limit_exceeded,
                                     "this connection has reached its limit of links"));
    }
    const auto lacks = [&](const std::string& path, Rights any_of) {
        return !decision.entity.empty() && !connection_.may_use(path, any_of);
    };
    const bool is_management = decision.what == AttachDecision::What::management;
    const Rights needed = is_management                                 ? Rights::all()
                          : decision.what == AttachDecision::What::send ? Rights::send()
                                                                        : Rights::listen();
    if (lacks(is_management ? management_node(decision.entity) : decision.entity, needed)) {
        return refuse(make_condition(condition::unauthorized_access,
                                     lacks(decision.entity, Rights::all())
                                         ? "Unauthorized access. No valid claim for '" +
                                               decision.entity +
                                               "' has been put on this connection."
                                         : text_of_missing(needed, decision.entity)));
    }
    return decision;
}

void PeerSession::on_sender(amqp::SenderLinkPtr link) {
    AttachDecision decision = decide(*link, true);
    Peer& peer = connection_.peer();
    if (decision.what == AttachDecision::What::refuse) {
        link->refuse(decision.refusal);
        return;
    }
    connection_.steal(link->name(), false);
    if (decision.what == AttachDecision::What::claims) {
        keep(std::make_unique<ResponseLink>(*this, peer, std::move(link), std::string{},
                                            claims_node));
        return;
    }
    const bool of_transfers = decision.what != AttachDecision::What::management &&
                              decision.entity.ends_with(transfer_sub_queue);
    auto queue =
        peer.broker.find(of_transfers ? owner_of_transfers(decision.entity) : decision.entity);
    if (!queue) {
        link->refuse(entity_not_found(decision.entity));
        return;
    }
    if (of_transfers) {
        if (const auto why = check_receive(decision, false); !why.empty()) {
            link->refuse(why);
            return;
        }
        keep(std::make_unique<EmptyFeed>(*this, std::move(link), std::move(decision.entity)));
        return;
    }
    if (decision.what == AttachDecision::What::management) {
        const std::string node = management_node(decision.entity);
        keep(std::make_unique<ResponseLink>(*this, peer, std::move(link), node, node));
        return;
    }
    if (const auto fault = queue.value()->find_receive_fault()) {
        link->refuse(condition_of(*fault, LockKind::session));
        return;
    }
    if (decision.what == AttachDecision::What::browse) {
        keep(std::make_unique<BrowseFeed>(*this, peer, std::move(link), std::move(queue).value(),
                                          decision))
            .start();
        return;
    }
    if (const auto why = check_receive(decision, queue.value()->options().requires_session);
        !why.empty()) {
        link->refuse(why);
        return;
    }
    keep(std::make_unique<MessageFeed>(*this, peer, std::move(link), std::move(queue).value(),
                                       std::move(decision)))
        .start();
}

void PeerSession::on_receiver(amqp::ReceiverLinkPtr link) {
    AttachDecision decision = decide(*link, false);
    Peer& peer = connection_.peer();
    if (decision.what == AttachDecision::What::refuse) {
        link->refuse(decision.refusal);
        return;
    }
    connection_.steal(link->name(), true);
    if (decision.what == AttachDecision::What::transact) {
        keep(std::make_unique<TransactionRefusal>(*this, peer, std::move(link)));
        return;
    }
    if (decision.what == AttachDecision::What::claims) {
        keep(std::make_unique<RequestLink>(
            *this, peer, std::move(link), std::string{}, claims_node, AnswerStyle::claims,
            [this](const Request& request) { return connection_.put_token(request); }));
        return;
    }
    auto queue = peer.broker.find(decision.entity);
    if (!queue) {
        link->refuse(entity_not_found(decision.entity));
        return;
    }
    if (decision.what == AttachDecision::What::management) {
        const std::string node = management_node(decision.entity);
        keep(std::make_unique<RequestLink>(
            *this, peer, std::move(link), node, node, AnswerStyle::management,
            [management = Management{peer, std::move(queue).value(), node}](
                const Request& request) { return management.answer(request); }));
        return;
    }
    if (const auto fault = queue.value()->find_send_fault()) {
        link->refuse(condition_of(*fault, LockKind::message));
        return;
    }
    keep(std::make_unique<MessageIntake>(*this, peer, std::move(link), std::move(queue).value(),
                                         decision.entity))
        .start();
}

void PeerSession::remove(PeerLink& link) {
    connection_.remove(link);
    const auto found = std::ranges::find(links_, &link, &std::unique_ptr<PeerLink>::get);
    const std::unique_ptr<PeerLink> last_hold = std::move(*found);
    links_.erase(found);
}

std::size_t PeerSession::release(std::size_t most) {
    std::size_t released = 0;
    for (; released < most && !links_.empty(); ++released) {
        remove(*links_.front());
    }
    return released;
}

void PeerSession::on_session_ended(const amqp::Condition&) { connection_.remove(*this); }

} // namespace sessionq::server
