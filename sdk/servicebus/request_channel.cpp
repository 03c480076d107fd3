#include "servicebus/request_channel.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/uuid.hpp"
#include "servicebus/conditions.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::servicebus {
namespace {

constexpr std::uint32_t reply_credit = 1000;

const std::string server_timeout = "com.microsoft:server-timeout";

std::uint32_t milliseconds_left(Deadline deadline, TimePoint now) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.remaining(now));
    return static_cast<std::uint32_t>(std::min<std::int64_t>(left.count(), 0xffffffff));
}

ports::RequestId id_of(std::string_view text) {
    ports::RequestId id = 0;
    std::from_chars(text.data(), text.data() + text.size(), id);
    return id;
}

} // namespace

RequestChannel::RequestChannel(core::EventLoop& loop, std::string node, WhenReady when_ready)
    : loop_{loop},
      node_{std::move(node)},
      reply_to_{"reply-" + core::Uuid::make().to_string()},
      when_ready_{std::move(when_ready)},
      replies_{loop} {}

RequestChannel::~RequestChannel() {
    sender_.reset();
    receiver_.reset();
    session_.reset();
    for (Requests* const requests : {&preparing_, &queued_, &sent_}) {
        while (!requests->empty()) {
            conclude(requests->begin()->first, Errc::cancelled);
        }
    }
    replies_.flush();
}

void RequestChannel::request(ports::RequestId id, Request request, Deadline deadline,
                             Handler handler) {
    const auto [made, is_new] =
        preparing_.try_emplace(id, *this, id, std::move(request), deadline, std::move(handler));
    if (deadline.passed(loop_.now())) {
        conclude(id, Errc::timeout);
        return;
    }
    if (!deadline.is_never()) {
        loop_.timers().arm(made->second.timer, deadline.time());
    }
    when_ready_([handle = anchor_.handle(), id](const core::Result<amqp::Engine*>& engine) {
        if (RequestChannel* const channel = handle.get()) {
            channel->on_ready(id, engine);
        }
    });
}

void RequestChannel::on_ready(ports::RequestId id, const core::Result<amqp::Engine*>& engine) {
    const auto found = preparing_.find(id);
    if (found == preparing_.end()) {
        return;
    }
    if (!engine.ok()) {
        reply(preparing_, found, engine.failure());
    } else if (sender_ == nullptr && !attach(*engine.value())) {
        reply(preparing_, found,
              Failure{.code = Errc::resource_exhausted,
                      .detail = node_ + ": the broker allows no more links on this connection"});
    } else {
        queued_.insert(preparing_.extract(found));
        transmit();
    }
}

bool RequestChannel::attach(amqp::Engine& engine) {
    session_ = engine.begin_session();
    if (session_ != nullptr) {
        sender_ = session_->make_sender("request-" + core::Uuid::make().to_string());
        receiver_ = session_->make_receiver("response-" + core::Uuid::make().to_string());
    }
    if (sender_ == nullptr || receiver_ == nullptr) {
        sender_.reset();
        receiver_.reset();
        session_.reset();
        return false;
    }
    session_->set_listener(this);
    sender_->set_listener(this);
    receiver_->set_listener(this);
    sender_->open({.source = {.address = reply_to_},
                   .target = {.address = node_},
                   .sender_mode = amqp::SenderSettleMode::settled});
    receiver_->open({.source = {.address = node_},
                     .target = {.address = reply_to_},
                     .sender_mode = amqp::SenderSettleMode::settled});
    receiver_->add_credit(reply_credit);
    return true;
}

void RequestChannel::transmit() {
    while (!queued_.empty() && sender_->credit() != 0 && receiver_->is_remote_open()) {
        const auto next = queued_.begin();
        Pending& pending = next->second;
        if (pending.deadline.passed(loop_.now())) { // its timer runs soon
            conclude(pending.id, Errc::timeout);
            continue;
        }
        if (!pending.deadline.is_never() && node_ != "$cbs") { // a put-token takes no timeout
            pending.request.properties.emplace_back(
                server_timeout, milliseconds_left(pending.deadline, loop_.now()));
        }
        const std::string id = std::to_string(pending.id);
        sender_->send(id, encode(std::exchange(pending.request, {}), {id, node_, reply_to_}), true);
        sent_.insert(queued_.extract(next));
    }
}

void RequestChannel::on_delivery(amqp::DeliveryHandle delivery) {
    std::string bytes(receiver_->size(delivery), '\0');
    receiver_->read(delivery, bytes.data());
    if (!receiver_->is_settled_by_sender(delivery)) {
        delivery.update({.kind = amqp::OutcomeKind::accepted});
    }
    delivery.settle();
    receiver_->add_credit(1);
    auto response = decode_response(bytes);
    const auto found = response ? sent_.find(id_of(response->first)) : sent_.end();
    if (found != sent_.end()) { // else it was given up
        reply(sent_, found, std::move(response->second));
    }
}

void RequestChannel::conclude(ports::RequestId id, Errc why) {
    for (Requests* const requests : {&preparing_, &queued_, &sent_}) {
        if (const auto found = requests->find(id); found != requests->end()) {
            reply(*requests, found,
                  Failure{.code = why,
                          .detail = "the request to " + node_,
                          .outcome_unknown = requests == &sent_});
            return;
        }
    }
}

void RequestChannel::on_lost(const amqp::Condition& condition) {
    sender_.reset();
    receiver_.reset();
    session_.reset();
    for (Requests* const requests : {&queued_, &sent_}) {
        while (!requests->empty()) {
            Failure why = to_failure(condition, "the link to " + node_ + " was lost");
            why.outcome_unknown = requests == &sent_;
            reply(*requests, requests->begin(), std::move(why));
        }
    }
}

void RequestChannel::reply(Requests& from, Requests::iterator pending,
                           core::Result<Response> result) {
    replies_.push([handler = std::move(pending->second.handler),
                   result = std::move(result)]() mutable { handler(std::move(result)); });
    from.erase(pending);
}

void RequestChannel::on_sender(amqp::SenderLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}
void RequestChannel::on_receiver(amqp::ReceiverLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}

} // namespace sessionq::servicebus
