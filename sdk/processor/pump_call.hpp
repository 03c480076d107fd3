#pragma once

#include "dispatch/call.hpp"

namespace sessionq::processor {

/// A call that has something to tell its loop afterwards, through the shard's queue of notices.
class PumpCall : public dispatch::Call {
public:
    /// On the loop, once for each time it was queued. May destroy the call.
    virtual void noticed() = 0;
};

} // namespace sessionq::processor
