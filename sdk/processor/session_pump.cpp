#include "processor/session_pump.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "processor/mutation.hpp"
#include "processor/shard.hpp"
#include "processor/slot_words.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::processor {
namespace {

Duration idle_timeout(const Shard& shard) {
    return shard.keeps_idle_sessions() ? Duration::max() : shard.options().session_idle_timeout;
}

} // namespace

SessionPump::SessionPump(Shard& shard, std::size_t slot, std::size_t target,
                         ports::SessionLinkPtr link, TimePoint asked_at)
    : shard_{shard},
      slot_{slot},
      target_{target},
      session_id_{link->session_id()},
      asked_at_{asked_at},
      link_{std::move(link)},
      lane_{shard.shared().environment.dispatcher->make_lane(shard.calls_per_session())},
      machine_{{.has_open_handler = static_cast<bool>(shard.shared().handlers.session_open),
                .has_close_handler = static_cast<bool>(shard.shared().handlers.session_close),
                .handles_all = shard.options().receive_and_delete,
                .roll_when_empty = idle_timeout(shard) == Duration::zero()}},
      idle_{idle_timeout(shard)},
      last_start_{0},
      lease_expires_{0},
      strict_{shard.calls_per_session() == 1},
      progress_at_{shard.loop().now()},
      bounds_{shard.shared().environment.tuning} {}

SessionPump::~SessionPump() = default;

const std::string& SessionPump::entity() const noexcept { return shard_.target(target_).entity; }

Deadline SessionPump::lease_expires() const noexcept {
    return Deadline::at(TimePoint{Duration{lease_expires_.load(std::memory_order_acquire)}});
}

// Opening

void SessionPump::open() {
    const TimePoint now = shard_.loop().now();
    link_->set_events(*this);
    lease_.grant_by_accept(asked_at_, now, link_->initial_lock().length);
    drive_lease();
    if (shard_.options().max_hold > Duration::zero()) {
        shard_.timers().arm(hold_timer_, now + shard_.options().max_hold);
    }
    const auto begin_later = [self = weak_from_this()] {
        if (const auto pump = self.lock(); pump && !pump->machine_.is_leaving()) {
            pump->begin();
        }
    };
    if (shard_.shared().held.hold({entity(), session_id_}, this, shard_.loop(), begin_later)) {
        begin();
    }
}

void SessionPump::begin() {
    begun_ = true;
    Counters::add(shard_.shared().counters.sessions_opened);
    const TimePoint now = shard_.loop().now();
    arming_ = idle_.start(now);
    progress_at_ = now;
    const SessionActions actions = machine_.opened();
    if (actions.run_open) {
        arming_.reset();
        static_cast<void>(idle_.begin()); // the clock does not run while on_session_open does
    }
    apply(actions);
    if (machine_.in_flight() == 0 && idle_.in_flight() == 0 &&
        idle_timeout(shard_) == Duration::zero() && machine_.credit() != 0) {
        start_drain(); // R4: ask at once whether there is anything
    }
    restart_idle_clock();
}

// What the link tells

ports::DeliveryPtr SessionPump::new_delivery() { return MessageCall::make(*this); }

void SessionPump::on_delivery(ports::DeliveryPtr delivery) {
    auto& call = static_cast<MessageCall&>(*delivery.release());
    shard_.credit().arrived(call.bytes, machine_.credit() != 0);
    came_ = true;
    const bool first = machine_.in_flight() == 0;
    const SessionMachine::Arrival arrival = machine_.delivered();
    if (!mutated(Mutant::disarmed_only_at_handler_start) &&
        !mutated(Mutant::idle_fires_while_handler_runs)) {
        if (idle_.begin()) { // R2: arrival disarms
            call.counted = true;
            arming_.reset();
            shard_.timers().cancel(idle_timer_);
        }
    }
    if (arrival == SessionMachine::Arrival::enqueue) {
        const TimePoint now = shard_.loop().now();
        if (first) {
            call.ready_at = now;
            progress_at_ = now;
        }
        if (mutated(Mutant::completes_before_handler)) {
            settle(call, {.outcome = ports::Outcome::complete});
        }
        ++unfinished_;
        lane_->push(call);
        shard_.touched();
        return;
    }
    call.finished = true;
    if (arrival == SessionMachine::Arrival::dead_letter) {
        settle(call, {.outcome = ports::Outcome::dead_letter,
                      .dead_letter = {.reason = "SessionDeadLettered"}});
    } else {
        shard_.count_released();
        settle(call, {.outcome = ports::Outcome::release});
    }
}

void SessionPump::on_settled(ports::Delivery& delivery, const Failure* failure) {
    auto& call = static_cast<MessageCall&>(delivery);
    unanswered_.remove(call);
    bounds_.settlements_moved(shard_.loop().now());
    Counters& counters = shard_.shared().counters;
    if (failure == nullptr) {
        switch (call.outcome()) {
        case ports::Outcome::complete: Counters::add(counters.messages_completed); break;
        case ports::Outcome::release: Counters::add(counters.messages_released); break;
        default: break;
        }
    } else {
        Counters::add(counters.settlement_failures);
        report(ErrorSource::settlement, *failure);
    }
    call.sent = false;
    call.answered = true;
    const bool lock_lost = failure != nullptr && failure->code == Errc::lock_lost;
    if (call.finished) { // else it was settled explicitly and its handler still runs
        if (failure == nullptr) {
            release_lane(call);
        }
        dispose(call);
    }
    if (lock_lost) {
        lose_later(CloseReason::lock_lost);
    } else if (failure != nullptr && !machine_.is_leaving()) {
        leave(CloseReason::
                  unresponsive); // what the broker thinks of the message is unknown: start afresh
    }
}

void SessionPump::on_drained() {
    give_credit_back();
    apply(machine_.drained());
}

void SessionPump::on_lost(const Failure& reason) {
    report(ErrorSource::link, reason);
    shard_.loop().post(
        [link = std::move(link_)] {}); // it is in the middle of telling; nothing follows
    lose(reason.code == Errc::lock_lost ? CloseReason::lock_lost : CloseReason::connection_lost);
}

/// From within a call of the link, which is about to be dropped.
void SessionPump::lose_later(CloseReason reason) {
    shard_.loop().post([self = weak_from_this(), reason] {
        if (const auto pump = self.lock()) {
            pump->lose(reason);
        }
    });
}

void SessionPump::lose(CloseReason reason) {
    if (machine_.is_lost() || given_back_) {
        return;
    }
    Counters::add(shard_.shared().counters.locks_lost);
    give_up(reason);
}

void SessionPump::abandon_running() {
    if (!machine_.is_lost()) {
        give_up(CloseReason::stopped);
    }
    forget_link();
}

void SessionPump::give_up(CloseReason reason) {
    last_start_.store(TimePoint::min().time_since_epoch().count(),
                      std::memory_order_release); // also what a worker has taken and not begun
    give_credit_back();
    apply(machine_.lost(reason));
    if (unfinished_ ==
        0) { // else the link is kept, so that the session is not given away earlier than need be
        forget_link();
    }
}

/// Ends the link, if it is still there, and with it every settlement that it has not answered.
void SessionPump::forget_link() {
    link_.reset();
    while (dispatch::Call* each = unanswered_.pop_front()) {
        auto& call = static_cast<MessageCall&>(*each);
        call.sent = false;
        if (call.finished) {
            dispose(call);
        }
    }
}

// Leaving

void SessionPump::leave(CloseReason reason) { apply(machine_.leave(reason)); }

void SessionPump::apply(const SessionActions& actions) {
    if (actions.fire_stop) {
        fire_stop();
    }
    if (actions.pause_lane) {
        lane_->pause();
    }
    if (machine_.is_leaving()) {
        shard_.timers().cancel(hold_timer_);
        shard_.timers().cancel(idle_timer_);
    }
    if (actions.start_drain) {
        start_drain();
    }
    if (actions.release_waiting) {
        release_waiting();
    }
    if (actions.discard_waiting) {
        discard_waiting();
    }
    if (actions.settle_failed) {
        settle_failed();
    }
    if (actions.release_lane) {
        while (holds_ != 0) {
            release_hold();
        }
    }
    if (actions.commit_idle) {
        commit_idle();
    }
    if (actions.grant_credit) {
        grant_credit();
    }
    if (actions.run_open) {
        run_session_call(SessionCall::Kind::open);
    }
    if (actions.run_close) {
        run_session_call(SessionCall::Kind::close);
    }
    if (actions.close_link) {
        close_link();
    }
    if (actions.finished) {
        finish();
    }
}

void SessionPump::start_drain() {
    machine_.drain_asked();
    bounds_.drain_asked(shard_.loop().now());
    arm_guard();
    link_->drain();
}

void SessionPump::on_idle_due() {
    if (arming_ &&
        (idle_.is_idle(arming_->epoch) || mutated(Mutant::idle_fires_while_handler_runs))) {
        due_epoch_ = arming_->epoch;
        apply(machine_.idle_due());
    }
}

void SessionPump::commit_idle() {
    const bool committed = idle_.fire(
        due_epoch_); // only the arming that was due: a message may have come and gone since
    apply(machine_.idle_committed(committed));
    if (!committed) {
        restart_idle_clock();
    }
}

void SessionPump::restart_idle_clock() {
    if (arming_ && !machine_.is_leaving()) {
        const bool at_once = machine_.dead_lettering() || idle_timeout(shard_) == Duration::zero();
        shard_.timers().arm(
            idle_timer_,
            at_once ? TimePoint{}
                    : arming_->due); // long due: runs this turn, while now would be rounded up (R4)
    }
}

void SessionPump::run_session_call(SessionCall::Kind kind) {
    session_call_ = std::make_unique<SessionCall>(*this, kind, machine_.close_reason());
    if (kind == SessionCall::Kind::close) { // after a pause: nothing else is in the lane
        lane_->push(*session_call_);
        while (holds_ != 0) {
            release_hold();
        }
        lane_->resume();
    } else {
        lane_->set_max_calls(1); // no message beside it, also where several may run at once
        lane_->push(*session_call_);
    }
    shard_.touched();
}

void SessionPump::close_link() {
    idle_.dispose();
    shard_.timers().cancel(lease_timer_);
    const bool lost = machine_.is_lost();
    if (!std::exchange(given_back_, true)) {
        if (begun_) {
            Counters::add(shard_.shared().counters.sessions_closed);
        }
        shard_.shared().held.ended({entity(), session_id_}, this);
        if (!lost) {
            bounds_.close_asked(shard_.loop().now());
            arm_guard();
            link_->close([this](const auto&) { apply(machine_.link_closed()); });
        }
        shard_.session_left(*this, machine_.close_reason(),
                            came_ ? std::nullopt : std::optional{shard_.loop().now() - asked_at_});
    }
    if (lost) {
        shard_.loop().post([link = std::move(link_)] {}); // it may be in the middle of telling
        apply(machine_.link_closed());
    }
}

void SessionPump::finish() {
    for (timing::Timer* timer :
         {&idle_timer_, &lease_timer_, &retry_timer_, &hold_timer_, &guard_timer_}) {
        shard_.timers().cancel(*timer);
    }
    shard_.pump_finished(*this);
}

void SessionPump::fire_stop() {
    if (std::exchange(stop_fired_, true)) {
        return;
    }
    shard_.shared().environment.notifier->post([stop = stop_]() mutable { stop.request_stop(); });
}

// The rest

void SessionPump::grant_credit() {
    if (!machine_.may_grant_credit() || !usable()) {
        return;
    }
    std::uint32_t window =
        CreditPolicy::window(shard_.options().prefetch, shard_.calls_per_session());
    if (const std::uint32_t most = shard_.options().max_messages_per_turn;
        most != 0) { // what is not fetched no worker can start too many of
        const std::uint32_t used = machine_.in_flight() + machine_.credit();
        window = std::min(window, used + (most > handled_ + used ? most - handled_ - used : 0));
    }
    const std::uint32_t granted =
        shard_.credit().grant(window, machine_.in_flight(), machine_.credit());
    if (granted != 0) {
        machine_.credit_added(granted);
        link_->add_credit(granted);
    }
}

/// Credit that brings no message any more leaves the budget.
void SessionPump::give_credit_back() { shard_.credit().used_credit(machine_.credit()); }

void SessionPump::set_max_calls(std::uint32_t calls) {
    strict_.store(calls == 1, std::memory_order_relaxed);
    if (session_call_ == nullptr) { // else once it has ended
        lane_->set_max_calls(calls);
    }
    shard_.touched();
}

void SessionPump::request_release() {
    shard_.loop().post([self = weak_from_this()] {
        if (const auto pump = self.lock()) {
            pump->leave(CloseReason::released);
        }
    });
}

ports::RequestId SessionPump::get_state(Deadline deadline,
                                        ports::SessionLink::StateHandler handler) {
    if (!usable()) {
        handler(Failure{.code = Errc::lock_lost, .detail = "session '" + session_id_ + "'"});
        return 0;
    }
    return link_->get_state(deadline, std::move(handler));
}

ports::RequestId SessionPump::set_state(std::optional<std::string> state, Deadline deadline,
                                        ports::SessionLink::DoneHandler handler) {
    if (!usable()) {
        handler(Failure{.code = Errc::lock_lost, .detail = "session '" + session_id_ + "'"});
        return 0;
    }
    return link_->set_state(std::move(state), deadline, std::move(handler));
}

void SessionPump::give_up(ports::RequestId id) {
    if (link_ != nullptr) {
        link_->give_up(id);
    }
}

SlotDescription SessionPump::describe(TimePoint now) const {
    const SlotWords words =
        words_for({.phase = machine_.phase(),
                   .begun = begun_,
                   .parked = parked_,
                   .retrying = !retrying_.empty(),
                   .in_flight = machine_.in_flight() != 0,
                   .settling = !unanswered_.empty(),
                   .draining = machine_.drain_outstanding(),
                   .expecting = machine_.credit() != 0 || idle_timer_.is_armed()});
    return {.entity = entity(),
            .session_id = session_id_,
            .state = std::string{words.state},
            .waits_for = std::string{words.waits_for},
            .since = now - progress_at_,
            .in_flight = machine_.in_flight(),
            .running = running()};
}

void SessionPump::report(ErrorSource source, Failure failure) const {
    shard_.shared().report({.source = source,
                            .failure = std::move(failure),
                            .entity = entity(),
                            .session_id = session_id_});
}

} // namespace sessionq::processor
