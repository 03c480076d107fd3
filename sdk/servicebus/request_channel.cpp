// SPDX-License-Identifier: MIT
#include "servicebus/request_channel.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/uuid.hpp"
#include "servicebus/conditions.hpp"

namespace sessionq::detail::servicebus {
namespace {

constexpr std::uint32_t reply_credit = 1000;
constexpr std::uint64_t most_in_claim_answer = std::uint64_t{64} << 10U; // a status and words

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
    : RequestQueue{loop,
                   {.peer = node,
                    .about = "the request to " + node,
                    .explain = servicebus::to_failure},
                   std::move(when_ready)},
      reply_to_{"reply-" + core::Uuid::make().to_string()} {}

bool RequestChannel::open_links() {
    sender_ = session_->make_sender("request-" + core::Uuid::make().to_string());
    receiver_ = session_->make_receiver("response-" + core::Uuid::make().to_string());
    if (sender_ == nullptr || receiver_ == nullptr) {
        return false;
    }
    sender_->set_listener(this);
    receiver_->set_listener(this);
    sender_->open({.source = {.address = reply_to_},
                   .target = {.address = terms_.peer},
                   .sender_mode = amqp::SenderSettleMode::settled});
    receiver_->open({.source = {.address = terms_.peer},
                     .target = {.address = reply_to_},
                     .sender_mode = amqp::SenderSettleMode::settled,
                     .max_message_size = terms_.peer == "$cbs" ? most_in_claim_answer : 0});
    receiver_->add_credit(reply_credit);
    return true;
}

void RequestChannel::drop_links() {
    RequestQueue::drop_links();
    receiver_.reset();
}

void RequestChannel::transmit() {
    while (!queued_.empty() && sender_->credit() != 0 && receiver_->is_remote_open()) {
        const auto next = queued_.begin();
        Pending& pending = next->second;
        if (pending.deadline.passed(loop_.now())) { // its timer runs soon
            conclude(pending.id, Errc::timeout);
            continue;
        }
        if (!pending.deadline.is_never() && terms_.peer != "$cbs") { // a put-token takes no timeout
            static const std::string name = "com.microsoft:server-timeout";
            pending.item.properties.emplace_back(name,
                                                 milliseconds_left(pending.deadline, loop_.now()));
        }
        const std::string id = std::to_string(pending.id);
        const std::string encoded =
            encode(std::exchange(pending.item, {}), {id, terms_.peer, reply_to_});
        const std::uint64_t limit = sender_->remote_max_message_size();
        if (limit != 0 && encoded.size() > limit) { // the broker would end the link for it
            reply(queued_, next,
                  Failure{.code = Errc::message_too_large,
                          .detail = terms_.about + " has " + std::to_string(encoded.size()) +
                                    " bytes, and the broker takes " + std::to_string(limit)});
            continue;
        }
        sender_->send(id, encoded, true);
        pending.is_sent = true;
        sent_.insert(queued_.extract(next));
    }
}

void RequestChannel::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    delivery.settle({.kind = amqp::OutcomeKind::accepted});
    receiver_->add_credit(1);
    auto response = decode_response(encoded);
    const auto found = response ? sent_.find(id_of(response->first)) : sent_.end();
    if (found != sent_.end()) { // else it was given up
        reply(sent_, found, std::move(response->second));
    }
}

} // namespace sessionq::detail::servicebus
