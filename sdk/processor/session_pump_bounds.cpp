#include "processor/session_pump.hpp"

#include "core/log.hpp"
#include "processor/mutation.hpp"
#include "processor/shard.hpp"
#include "timing/timer_service.hpp"

// What a pump keeps an eye on: the lease, and how long the broker takes to answer.

namespace sessionq::processor {

// The lease

void SessionPump::drive_lease() {
    for (;;) {
        if (machine_.is_lost() || given_back_) {
            return;
        }
        const TimePoint now = shard_.loop().now();
        last_start_.store(lease_.last_start().time_since_epoch().count(),
                          std::memory_order_release);
        lease_expires_.store(lease_.expires().time().time_since_epoch().count(),
                             std::memory_order_release);
        const Lease::Next next = lease_.next(now, !is_slow(now));
        switch (next.step) {
        case Lease::Step::renew: renew_lock(); continue;
        case Lease::Step::warn:
            fire_stop();
            leave(CloseReason::lock_lost);
            continue;
        case Lease::Step::expire:
            report(ErrorSource::lock_renewal,
                   {.code = Errc::lock_lost, .detail = "the lease expired"});
            lose_later(CloseReason::lock_lost);
            return;
        case Lease::Step::wait:
            if (next.at != TimePoint::max()) {
                shard_.timers().arm(lease_timer_, next.at);
            }
            return;
        }
    }
}

void SessionPump::on_lease_doubted() {
    const TimePoint now = shard_.loop().now();
    lease_.doubt(now);
    shard_.timers().arm(lease_timer_, now); // by a later turn: the link is in the middle of telling
}

void SessionPump::renew_lock() {
    lease_.renewal_asked();
    const TimePoint asked = shard_.loop().now();
    const auto ask = [this, asked] {
        if (!usable()) {
            return;
        }
        link_->renew_lock(lease_.expires(), [this, asked](core::Result<ports::LockGrant> answer) {
            if (machine_.is_lost() || given_back_) {
                return;
            }
            if (answer.ok()) {
                Counters::add(shard_.shared().counters.lock_renewals);
                lease_.grant(asked, answer.value().length);
            } else {
                report(ErrorSource::lock_renewal, answer.failure());
                if (answer.failure().code == Errc::lock_lost) {
                    lose_later(CloseReason::lock_lost);
                    return;
                }
                lease_.renewal_failed(shard_.loop().now());
            }
            drive_lease();
        });
    };
    if (mutated(Mutant::renews_on_worker)) {
        shard_.shared().environment.workers->post(
            [ask, self = shared_from_this()] { self->shard_.loop().post([ask, self] { ask(); }); });
        return;
    }
    ask();
}

/// Whether handlers run and none has finished for longer than the lease may be renewed.
bool SessionPump::is_slow(TimePoint now) const noexcept {
    const Duration most = shard_.options().max_lock_renewal;
    return most > Duration::zero() && machine_.in_flight() != 0 && now - progress_at_ >= most;
}

// Bounds on the broker's answers

AnswerBounds::Outstanding SessionPump::outstanding() const noexcept {
    return {.drain = machine_.drain_outstanding(),
            .settlements = !unanswered_.empty(),
            .close = machine_.phase() == SessionMachine::Phase::closing_link};
}

void SessionPump::arm_guard() {
    if (const TimePoint due = bounds_.due(outstanding()); due != TimePoint::max()) {
        shard_.timers().arm(guard_timer_, due);
    }
}

void SessionPump::on_guard_due() {
    const auto keep = shared_from_this();
    switch (bounds_.overdue(outstanding(), shard_.loop().now())) {
    case AnswerBounds::Overdue::close:
        forget_link();
        apply(machine_.link_closed());
        return;
    case AnswerBounds::Overdue::settlements:
        report(ErrorSource::settlement,
               {.code = Errc::timeout, .detail = "settlements are unanswered"});
        lose(CloseReason::unresponsive);
        forget_link();
        return;
    case AnswerBounds::Overdue::drain:
        give_credit_back();
        apply(machine_.drain_overdue());
        break;
    case AnswerBounds::Overdue::nothing: break;
    }
    if (machine_.phase() != SessionMachine::Phase::finished) {
        arm_guard();
    }
}

} // namespace sessionq::processor
