#pragma once

#include "broker/sequenced_queue.hpp"
#include "broker/stored_message.hpp"

namespace sessionq::broker {

/// The messages that consumers of one session, or of an entity without sessions, may receive, in
/// sequence order.
using AvailableMessages = SequencedQueue<StoredMessage, AvailableTag, &StoredMessage::sequence>;

} // namespace sessionq::broker
