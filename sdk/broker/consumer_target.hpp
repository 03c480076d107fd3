#pragma once

#include <memory>

#include <sessionq/error.hpp>

namespace sessionq::broker {

struct Consumer;
using ConsumerPtr = std::shared_ptr<Consumer>;

/// A consuming client as the broker sees it. The broker calls it directly (DG2), under no lock, on
/// whichever thread made the thing happen: each function only takes note, quickly, and leaves the
/// rest to the client's own thread. It may be called while its client lets go of it.
class ConsumerTarget {
public:
    virtual ~ConsumerTarget() = default;

    /// The answer to an accept: a session is held. Exactly one of this and `on_refused` follows an
    /// accept.
    virtual void on_accepted(ConsumerPtr consumer) noexcept = 0;

    /// The answer to an accept: there is no session, and why.
    virtual void on_refused(Failure why) noexcept = 0;

    /// There is work to pull. Not repeated before the consumer has pulled (DG3).
    virtual void notify_work() noexcept = 0;

    /// The consumer has ended without being closed: its lock expired, its queue is gone. At most
    /// once, and last.
    virtual void on_lost(Failure why) noexcept = 0;
};

} // namespace sessionq::broker
