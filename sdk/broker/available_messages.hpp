#pragma once

#include "broker/sequenced_queue.hpp"
#include "broker/stored_message.hpp"

namespace sessionq::broker {

/// What consumers of one session, or of an entity without sessions, may be given, in sequence
/// order.
using AvailableMessages = SequencedQueue<StoredMessage, AvailableTag, &StoredMessage::sequence>;

} // namespace sessionq::broker
