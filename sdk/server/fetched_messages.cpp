// SPDX-License-Identifier: MIT
#include "server/fetched_messages.hpp"

#include <utility>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "server/lock_token.hpp"
#include "server/managed_entity.hpp"

namespace sessionq::server {

FetchedMessages::FetchedMessages(const Holder& holder, std::vector<broker::Delivered> messages,
                                 Delete deletes, broker::Instant now)
    : holder_{holder.number},
      queue_{holder.queue},
      consumer_{holder.consumer},
      locked_until_{holder.message_locked_until(now)},
      deletes_{deletes},
      messages_{std::move(messages)} {
    constexpr std::size_t beside = 192; // the lock token, and the fields added to a message
    std::size_t bytes = beside;
    for (const broker::Delivered& delivered : messages_) {
        bytes += delivered.message.shared_content()->bytes() + beside;
    }
    body_.reserve(bytes);
    amqp::Encoder encoder{body_};
    map_ = encoder.begin_map();
    encoder.write_string("messages");
    list_ = encoder.begin_list();
}

bool FetchedMessages::go_on(std::size_t count, broker::Instant now) {
    for (; count != 0 && written_ < messages_.size(); --count) {
        write(messages_[written_++], now);
    }
    const std::size_t to_delete = deletes_ == Delete::with_the_answer ? messages_.size() : 0;
    for (; count != 0 && deleted_ < to_delete; --count) {
        broker::SettleOrder order{.token = messages_[deleted_++].token};
        queue_->settle(*consumer_, {&order, 1}, now);
    }
    return written_ == messages_.size() && deleted_ == to_delete;
}

std::string FetchedMessages::take() && {
    amqp::Encoder encoder{body_};
    encoder.end_list(list_, static_cast<std::uint32_t>(messages_.size()));
    encoder.end_map(map_, 2);
    return std::move(body_);
}

void FetchedMessages::write(const broker::Delivered& delivered, broker::Instant now) {
    const core::Uuid token = LockToken{.holder = holder_, .token = delivered.token}.uuid();
    amqp::DeliveryNotes notes{.facts = delivered.message.facts()};
    if (deletes_ == Delete::no) { // one client fails on a lock token without an expiry
        notes.lock_token = token;
        notes.locked_until = locked_until_;
    }
    amqp::Encoder encoder{body_};
    const std::size_t map = encoder.begin_map();
    encoder.write_string("message");
    encoder.write_binary(amqp::encode_delivery(*delivered.message.shared_content(), notes,
                                               {.now = now.now, .wall = now.wall}));
    encoder.write_string("lock-token");
    encoder.write_uuid(token);
    encoder.end_map(map, 4);
}

} // namespace sessionq::server
