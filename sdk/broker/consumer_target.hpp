// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <sessionq/error.hpp>

namespace sessionq::broker {

struct Consumer;
using ConsumerPtr = std::shared_ptr<Consumer>;

/// The broker's view of a consuming client. The broker calls it directly (DG2), under no lock, on
/// the thread that caused the event. Each function only takes note and leaves the work to the
/// client's own thread. A call may arrive while the client is releasing the target.
class ConsumerTarget {
public:
    virtual ~ConsumerTarget() = default;

    /// The answer to an accept: the session is locked for `consumer`. An accept is answered by
    /// either this or `on_refused`, exactly once.
    virtual void on_accepted(ConsumerPtr consumer) noexcept = 0;

    /// The answer to an accept: no session, and the reason.
    virtual void on_refused(Failure why) noexcept = 0;

    /// There are messages to pull. Not repeated until the consumer has pulled (DG3).
    virtual void notify_work() noexcept = 0;

    /// The consumer ended without being closed: its lock expired or its queue was deleted. The last
    /// call, at most once.
    virtual void on_lost(Failure why) noexcept = 0;
};

} // namespace sessionq::broker
