// SPDX-License-Identifier: MIT
#pragma once

#include "dispatch/call.hpp"

namespace sessionq::detail::processor {

/// A call that reports back to its receive thread: a message, a batch, or a call of an open or
/// close handler. The worker that ran the call queues it with `Workplace::notify`. The shard takes
/// the call from the queue in its next turn.
class ShardCall : public dispatch::Call {
public:
    /// Runs on the loop, once for each time the call was queued. May destroy the call.
    virtual void noticed() = 0;
};

} // namespace sessionq::detail::processor
