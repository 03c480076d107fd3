// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "core/receive_room.hpp"
#include "core/reply_queue.hpp"
#include "groups/dialect_connection.hpp"
#include "groups/receiver_channel.hpp"
#include "groups/unanswered_ids.hpp"
#include "ports/accept_book.hpp"

namespace sessionq::groups {

/// The parts of an endpoint that its receivers and entity links share. `Endpoint` has one and
/// passes it to each of them.
struct ReceiverContext {
    core::EventLoop& loop;
    DialectConnection& connection;
    ports::AcceptBook& accepts;
    core::ReplyQueue& replies;
    UnansweredIds& unanswered;
    /// Tells the endpoint that nobody needs this receiver. The endpoint destroys it in a later
    /// turn, unless it is needed again by then.
    std::function<void(const ReceiverSettings&)> finished;
    core::ReceiveRoomPtr room{std::make_shared<core::ReceiveRoom>()}; ///< for received messages
};

} // namespace sessionq::groups
