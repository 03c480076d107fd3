// SPDX-License-Identifier: MIT
#include "server/request_link.hpp"

#include <utility>

#include "server/attach_decision.hpp"
#include "server/conditions.hpp"
#include "server/management_answer.hpp"
#include "server/response_link.hpp"

namespace sessionq::server {
namespace {

constexpr std::uint32_t request_credit = 100;

} // namespace

RequestLink::RequestLink(PeerLinkOwner& owner, Peer& peer, amqp::ReceiverLinkPtr link,
                         std::string entity, std::string node, AnswerStyle style,
                         Responder responder)
    : PeerLink{owner, std::string{link->name()}, std::move(entity), Rights::all(), true},
      peer_{peer},
      link_{std::move(link)},
      node_{std::move(node)},
      style_{style},
      responder_{std::move(responder)},
      held_{peer, [this](Request request, TimePoint until, const Failure* deletion) {
                give_back(std::move(request), until, deletion);
            }} {
    link_->set_listener(this);
    link_->open(echo_attach(link_->remote(), style_ == AnswerStyle::claims
                                                 ? peer_.limits.claim_bytes
                                                 : peer_.limits.request_bytes));
    link_->add_credit(request_credit);
}

void RequestLink::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    auto request = read_request(encoded);
    if (request) {
        delivery.settle({.kind = amqp::OutcomeKind::accepted});
    } else {
        delivery.settle(
            {.kind = amqp::OutcomeKind::rejected,
             .error = make_condition(condition::decode_error,
                                     "the delivery is not an AMQP message, or has "
                                     "more than " +
                                         std::to_string(most_request_values) + " values")});
    }
    if (request && (!waiting_.empty() || !has_room())) {
        wait(*std::move(request), std::nullopt);
        peer_.room->await(*this);
        return;
    }
    link_->add_credit(1);
    if (request) {
        answer(*std::move(request));
    }
}

RequestLink::~RequestLink() {
    count(-requests_in_work_, -unsent_answers_);
    for (const Waiting& each : waiting_) {
        peer_.waiting_request_bytes -= each.request.bytes;
    }
}

void RequestLink::count(std::ptrdiff_t requests, std::ptrdiff_t answers) noexcept {
    requests_in_work_ += requests;
    unsent_answers_ += answers;
    peer_.waiting_request_bytes += static_cast<std::size_t>(requests);
    peer_.answer_bytes += static_cast<std::size_t>(answers);
}

bool RequestLink::has_room() {
    return !peer_.room->is_full() &&
           peer_.room->unread() + peer_.answer_bytes < peer_.limits.unread_answers;
}

void RequestLink::wait(Request request, std::optional<TimePoint> until) {
    peer_.waiting_request_bytes += request.bytes;
    waiting_.push_back({.request = std::move(request), .until = until});
}

void RequestLink::line_up() {
    if (waiting_.empty() || std::exchange(is_in_line_, true)) {
        return;
    }
    peer_.turns.add([this, self = std::weak_ptr{self_}] {
        if (!self.expired()) {
            is_in_line_ = false;
            answer_next();
        }
    });
}

// May destroy the link.
void RequestLink::answer_next() {
    if (waiting_.empty()) {
        return;
    }
    if (!has_room()) {
        peer_.room->await(*this);
        return;
    }
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    peer_.waiting_request_bytes -= next.request.bytes;
    if (!next.until) { // the wait for a message used no credit
        link_->add_credit(1);
    }
    const auto self = std::weak_ptr{self_};
    answer(std::move(next.request), next.until);
    if (!self.expired()) {
        line_up();
    }
}

// May destroy the link.
void RequestLink::answer(Request request, std::optional<TimePoint> until) {
    Answer answer = responder_(request);
    if (answer.progress) {
        request.progress = std::move(answer.progress);
        const auto size = static_cast<std::ptrdiff_t>(request.bytes);
        const auto written = static_cast<std::ptrdiff_t>(request.progress->bytes());
        count(size, written);
        peer_.turns.add([this, self = std::weak_ptr{self_}, rest = std::move(request), size,
                         written, until]() mutable {
            if (!self.expired()) {
                count(-size, -written);
                this->answer(std::move(rest), until);
            }
        });
        return;
    }
    if (answer.hold) {
        const TimePoint now = peer_.loop.now();
        const TimePoint end = until.value_or(now + answer.hold->wait);
        if (end > now && held_.hold(request, *answer.hold, end)) {
            return;
        }
    }
    if (!answer.is_confirmation || peer_.commits.is_always_open()) {
        send(answer, request.reply_to, request.message_id);
        return;
    }
    const auto kept = static_cast<std::ptrdiff_t>(answer.encoded_body.size());
    count(0, kept);
    peer_.commits.when_durable([this, self = std::weak_ptr{self_}, answer = std::move(answer), kept,
                                reply_to = request.reply_to,
                                message_id = request.message_id](const Failure* why) {
        if (self.expired()) {
            return;
        }
        count(0, -kept);
        if (why == nullptr) {
            send(answer, reply_to, message_id);
        } else {
            amqp::Condition condition = condition_of(*why, LockKind::message);
            send({.status = status_of(why->code),
                  .description = std::move(condition.text),
                  .condition = std::move(condition.name)},
                 reply_to, message_id);
        }
    });
}

// May destroy the link.
void RequestLink::give_back(Request request, TimePoint until, const Failure* deletion) {
    if (deletion == nullptr) {
        wait(std::move(request), until);
        line_up();
        return;
    }
    send(refuse(*deletion), request.reply_to, request.message_id);
}

void RequestLink::send(const Answer& answer, const std::string& reply_to,
                       const amqp::Value& message_id) {
    ResponseLink* reply_link = peer_.routes.find(node_, reply_to, &link_->session());
    if (reply_link != nullptr) { // else no link reads the answer
        reply_link->send(write_answer(answer, message_id, style_));
    }
}

void RequestLink::on_disposition(amqp::DeliveryHandle delivery) {
    if (delivery.remote_settled()) {
        delivery.settle();
    }
}

} // namespace sessionq::server
