#include "server/request_link.hpp"

#include "server/attach_decision.hpp"
#include "server/conditions.hpp"
#include "server/response_link.hpp"

namespace sessionq::server {
namespace {

constexpr std::uint32_t request_credit = 100;

} // namespace

RequestLink::RequestLink(PeerLinkOwner& owner, Peer& peer, amqp::ReceiverLinkPtr link, std::string entity, std::string node, AnswerStyle style,
                         Responder responder)
    : PeerLink{owner, std::string{link->name()}, std::move(entity), true},
      peer_{peer},
      link_{std::move(link)},
      node_{std::move(node)},
      style_{style},
      responder_{std::move(responder)} {
    link_->set_listener(this);
    link_->open(echo_attach(link_->remote(), style_ == AnswerStyle::claims ? peer_.limits.claim_bytes : peer_.limits.request_bytes));
    link_->add_credit(request_credit);
}

void RequestLink::on_delivery(amqp::DeliveryHandle delivery) {
    std::string encoded(link_->size(delivery), '\0');
    link_->read(delivery, encoded.data());
    const auto request = read_request(encoded);
    if (!link_->is_settled_by_sender(delivery)) {
        if (request) {
            delivery.update({.kind = amqp::OutcomeKind::accepted});
        } else {
            delivery.update({.kind = amqp::OutcomeKind::rejected, .error = make_condition(condition::decode_error, "this is no message")});
        }
    }
    delivery.settle();
    link_->add_credit(1);
    if (request && !answer(*request)) {
        end(make_condition(condition::resource_limit_exceeded, "too many answers wait to be read"));
    }
}

bool RequestLink::answer(const Request& request) {
    const Answer answer = responder_(request);
    ResponseLink* way_back = peer_.routes.find(node_, request.reply_to, &link_->session());
    if (way_back == nullptr) {
        return true; // nobody reads it
    }
    way_back->send(write_answer(answer, request.message_id, style_));
    return way_back->unread() <= peer_.limits.unread_answers;
}

void RequestLink::on_disposition(amqp::DeliveryHandle delivery) {
    if (delivery.remote_settled()) {
        delivery.settle();
    }
}

} // namespace sessionq::server
