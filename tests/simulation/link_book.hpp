#pragma once

#include <cstdint>

#include "core/event_loop.hpp"
#include "simulation/environment.hpp"

namespace sessionq::simulation {

/// What is written down of one link at the seam between its consumer and its port: brings the
/// records up to date, tells the oracles, and checks that the seam's contract is kept. Carries
/// nothing itself.
class LinkBook {
public:
    LinkBook(Environment& environment, core::EventLoop& loop, LinkRecord& record)
        : environment_{&environment}, loop_{&loop}, record_{&record} {}

    [[nodiscard]] LinkRecord& record() noexcept { return *record_; }
    /// False: a call that may not be made now.
    bool usable(const char* call);

    /// It is the consumer's from now on, with a lease that ends then; `doubt`: as in the record.
    void accepted(TimePoint lease_until, Duration doubt, bool late);

    // What the consumer asks for. False: against the contract, not to be passed on.
    bool credit_added(std::uint32_t count, bool has_listener);
    bool drain_asked();
    bool settle_asked(DeliveryRecord* delivery, ports::Outcome outcome);
    void renewal_asked() noexcept { record_->renewal_asked = true; }
    void closing();
    /// True: by this it is closed.
    bool destroyed();

    // What it is told, before it is told.
    DeliveryRecord& arrived(MessageRecord& message, ports::Delivery& delivery, Message said,
                            DeliveryFacts facts);
    /// False: the delivery is gone.
    bool settled(DeliveryRecord& delivery, const Failure* failure);
    void drained();
    void renewed(TimePoint lease_until);
    void renewal_failed(const Failure& failure) noexcept;
    /// Its settlements that are unanswered fail next.
    void losing(const Failure& reason);
    void lost();

private:
    void end_holding();

    Environment* environment_;
    core::EventLoop* loop_;
    LinkRecord* record_;
};

} // namespace sessionq::simulation
