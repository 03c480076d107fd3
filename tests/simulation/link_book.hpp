// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/event_loop.hpp"
#include "ports/session_link.hpp"
#include "simulation/environment.hpp"

namespace sessionq::simulation {

/// Records one link at the seam between its consumer and its port. Updates the records, tells the
/// oracles and checks the contract of the seam. Forwards nothing.
class LinkBook {
public:
    LinkBook(Environment& environment, core::EventLoop& loop, LinkRecord& record)
        : environment_{&environment}, loop_{&loop}, record_{&record} {}

    [[nodiscard]] LinkRecord& record() noexcept { return *record_; }
    /// Returns false if the call is not allowed now.
    bool usable(const char* call);

    /// The consumer holds the session from now on. Its lock ends then. `doubt` is as in the record.
    void accepted(TimePoint lease_until, Duration doubt, bool late);
    /// That credit went out with the accept.
    void given(ports::FirstCredit first);

    // Requests of the consumer. Each returns false if the contract forbids it; it is not forwarded
    // then.
    void taken() noexcept { record_->taken = true; }
    bool credit_added(std::uint32_t count, bool has_listener);
    bool drain_asked();
    bool settle_asked(DeliveryRecord* delivery, ports::Outcome outcome);
    void renewal_asked() noexcept { record_->renewal_asked = true; }
    void closing();
    /// Returns true if this call closes it.
    bool destroyed();

    // Events for the consumer, before it gets them.
    DeliveryRecord& arrived(MessageRecord& message, ports::Delivery& delivery, Message said,
                            DeliveryFacts facts);
    /// Returns false if the delivery is gone.
    bool settled(DeliveryRecord& delivery, const Failure* failure);
    void drained();
    void renewed(TimePoint lease_until);
    void renewal_failed(const Failure& failure) noexcept;
    /// Its unanswered settlements fail next.
    void losing(const Failure& reason);
    void lost();

private:
    void end_holding();

    Environment* environment_;
    core::EventLoop* loop_;
    LinkRecord* record_;
};

} // namespace sessionq::simulation
