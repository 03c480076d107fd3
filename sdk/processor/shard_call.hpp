// SPDX-License-Identifier: MIT
#pragma once

#include "dispatch/call.hpp"

namespace sessionq::processor {

/// A call that has something to tell its loop afterwards, through the queue of its workplace.
class ShardCall : public dispatch::Call {
public:
    /// On the loop, once for each time it was queued. May destroy the call.
    virtual void noticed() = 0;
};

} // namespace sessionq::processor
