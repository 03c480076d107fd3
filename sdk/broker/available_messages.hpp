// SPDX-License-Identifier: MIT
#pragma once

#include "broker/sequenced_queue.hpp"
#include "broker/stored_message.hpp"

namespace sessionq::broker {

/// Messages that consumers may receive, in sequence order: of one session, or of one rank in an
/// entity without sessions.
using AvailableMessages = SequencedQueue<StoredMessage, AvailableTag, &StoredMessage::sequence>;

} // namespace sessionq::broker
