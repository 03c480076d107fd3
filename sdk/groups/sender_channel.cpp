#include "groups/sender_channel.hpp"

#include <charconv>
#include <utility>

#include "core/uuid.hpp"
#include "groups/conditions.hpp"

namespace sessionq::groups {

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
    const auto call = std::make_shared<Call>(Call{
        .messages = encoded.size(), .unanswered = encoded.size(), .handler = std::move(handler)});
    for (std::string& each : encoded) {
        if (lost_) {
            answered(call, Failure{.code = Errc::connection_lost,
                                   .detail = "no way to '" + entity_ + "'"});
        } else {
            waiting_.push_back({.bytes = std::move(each), .call = call});
        }
    }
    send_waiting();
}

void SenderChannel::send_waiting() {
    while (!lost_ && !waiting_.empty() && link_->is_remote_open() && link_->credit() != 0) {
        const Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        const std::uint64_t most = link_->remote_max_message_size();
        if (most != 0 && next.bytes.size() > most) {
            answered(next.call, Failure{.code = Errc::message_too_large,
                                        .detail = std::to_string(next.bytes.size()) + " bytes; '" +
                                                  entity_ + "' takes " + std::to_string(most)});
            continue;
        }
        const std::uint64_t number = ++last_tag_;
        link_->send(std::to_string(number), next.bytes, false);
        unanswered_.emplace(number, next.call);
    }
}

void SenderChannel::on_disposition(amqp::DeliveryHandle delivery) {
    const auto kind = delivery.remote_kind();
    if ((kind == amqp::OutcomeKind::none || kind == amqp::OutcomeKind::received) &&
        !delivery.remote_settled()) {
        return;
    }
    const std::string_view tag = delivery.tag();
    std::uint64_t number = 0;
    std::from_chars(tag.data(), tag.data() + tag.size(), number);
    const amqp::Outcome outcome = delivery.remote_outcome();
    delivery.settle();
    const auto found = unanswered_.find(number);
    if (found == unanswered_.end()) {
        return;
    }
    const auto call = std::move(found->second);
    unanswered_.erase(found);
    if (kind == amqp::OutcomeKind::accepted) {
        answered(call, std::nullopt);
    } else if (kind == amqp::OutcomeKind::rejected) {
        answered(call, to_failure(outcome.error, "'" + entity_ + "' refused the message"));
    } else {
        answered(call, Failure{.code = Errc::server_busy,
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
void SenderChannel::on_link_closed(const amqp::Condition& condition, bool) {
    fail(to_failure(condition, "the way to '" + entity_ + "' is closed"));
}

void SenderChannel::fail(const Failure& why) {
    lost_ = true;
    for (const Waiting& each : std::exchange(waiting_, {})) {
        answered(each.call, why);
    }
    for (const auto& [number, call] : std::exchange(unanswered_, {})) {
        answered(call, why);
    }
}

/// The first failure is the call's; it is told once nothing of it is under way.
void SenderChannel::answered(const std::shared_ptr<Call>& call, std::optional<Failure> failure) {
    if (failure && !call->failure) {
        call->failure = std::move(failure);
    }
    if (--call->unanswered != 0) {
        return;
    }
    loop_.post([call] {
        if (call->failure) {
            call->handler(*call->failure);
        } else {
            call->handler(std::vector<std::int64_t>(call->messages, 0));
        }
    });
}

} // namespace sessionq::groups
