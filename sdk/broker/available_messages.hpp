// SPDX-License-Identifier: MIT
#pragma once

#include "broker/sequenced_queue.hpp"
#include "broker/stored_message.hpp"
#include "core/prefetch.hpp"

namespace sessionq::broker {

/// Messages that consumers may receive, in sequence order: of one session, or of one rank in an
/// entity without sessions.
using AvailableMessages = SequencedQueue<StoredMessage, AvailableTag, &StoredMessage::sequence>;

/// The processor begins to load the first message's content, and the message behind it: a queue is
/// larger than any cache.
inline void prefetch_front(const AvailableMessages& line) noexcept {
    if (const StoredMessage* const first = line.front()) {
        core::prefetch(first->content.get());
        core::prefetch(line.likely_second());
    }
}

} // namespace sessionq::broker
