#include "servicebus/sender_channel.hpp"

#include <charconv>
#include <utility>

#include "amqp/codec/batch.hpp"
#include "core/uuid.hpp"
#include "servicebus/conditions.hpp"

namespace sessionq::servicebus {

SenderChannel::SenderChannel(core::EventLoop& loop, amqp::Engine& engine, std::string entity)
    : loop_{loop}, entity_{std::move(entity)}, session_{engine.begin_session()} {
    link_ = session_ ? session_->make_sender("sender-" + core::Uuid::make().to_string()) : nullptr;
    if (link_ == nullptr) {
        lost_ = true;
        return;
    }
    session_->set_listener(this);
    link_->set_listener(this);
    link_->open({.source = {.address = std::string{link_->name()}},
                 .target = {.address = entity_},
                 .sender_mode = amqp::SenderSettleMode::unsettled});
}

SenderChannel::~SenderChannel() {
    link_.reset();
    session_.reset();
    fail({.code = Errc::cancelled, .detail = "the connection is being closed"});
}

void SenderChannel::send(std::vector<std::string> encoded, ports::SendHandler handler) {
    if (lost_) {
        answer(std::move(handler),
               Failure{.code = Errc::connection_lost, .detail = "no way to '" + entity_ + "'"});
        return;
    }
    const bool is_batch = encoded.size() > 1;
    const std::size_t messages = encoded.size();
    waiting_.push_back({.bytes = is_batch ? amqp::make_batch(encoded) : std::move(encoded.front()),
                        .format = is_batch ? amqp::batch_format : 0,
                        .messages = messages,
                        .handler = std::move(handler)});
    send_waiting();
}

void SenderChannel::send_waiting() {
    while (!lost_ && !waiting_.empty() && link_->is_remote_open() && link_->credit() != 0) {
        Sending next = std::move(waiting_.front());
        waiting_.pop_front();
        const std::uint64_t most = link_->remote_max_message_size();
        if (most != 0 && next.bytes.size() > most) {
            answer(std::move(next.handler),
                   Failure{.code = Errc::message_too_large,
                           .detail = std::to_string(next.bytes.size()) + " bytes; '" + entity_ +
                                     "' takes " + std::to_string(most)});
            continue;
        }
        const std::uint64_t number = ++last_tag_;
        link_->send(std::to_string(number), next.bytes, false, next.format);
        next.bytes = {};
        unanswered_.emplace(number, std::move(next));
    }
}

void SenderChannel::on_disposition(amqp::DeliveryHandle delivery) {
    const std::string_view tag = delivery.tag();
    std::uint64_t number = 0;
    std::from_chars(tag.data(), tag.data() + tag.size(), number);
    const auto kind = delivery.remote_kind();
    if (kind == amqp::OutcomeKind::none || kind == amqp::OutcomeKind::received) {
        if (!delivery.remote_settled()) {
            return;
        }
    }
    const amqp::Outcome outcome = delivery.remote_outcome();
    delivery.settle();
    const auto found = unanswered_.find(number);
    if (found == unanswered_.end()) {
        return;
    }
    Sending sent = std::move(found->second);
    unanswered_.erase(found);
    if (kind == amqp::OutcomeKind::accepted) {
        answer(std::move(sent.handler), std::vector<std::int64_t>(sent.messages, 0));
    } else if (kind == amqp::OutcomeKind::rejected) {
        answer(std::move(sent.handler),
               to_failure(outcome.error, "'" + entity_ + "' refused the message"));
    } else {
        answer(std::move(sent.handler),
               Failure{.code = Errc::server_busy,
                       .detail = "'" + entity_ + "' did not take the message"});
    }
}

void SenderChannel::on_sender(amqp::SenderLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
}
void SenderChannel::on_receiver(amqp::ReceiverLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "no links are served here"});
}
void SenderChannel::on_session_ended(const amqp::Condition& condition) {
    fail(to_failure(condition, "the way to '" + entity_ + "' is closed"));
}
void SenderChannel::on_link_gone(const amqp::Condition&) {} // the session tells
void SenderChannel::on_link_closed(const amqp::Condition& condition, bool) {
    fail(to_failure(condition, "the way to '" + entity_ + "' is closed"));
}

void SenderChannel::fail(const Failure& why) {
    lost_ = true;
    for (Sending& each : std::exchange(waiting_, {})) {
        answer(std::move(each.handler), why);
    }
    for (auto& [number, each] : std::exchange(unanswered_, {})) {
        answer(std::move(each.handler), why);
    }
}

void SenderChannel::answer(ports::SendHandler handler,
                           core::Result<std::vector<std::int64_t>> result) {
    loop_.post([handler = std::move(handler), result = std::move(result)]() mutable {
        handler(std::move(result));
    });
}

} // namespace sessionq::servicebus
