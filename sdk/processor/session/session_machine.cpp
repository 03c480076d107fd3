// SPDX-License-Identifier: MIT
// The phases of a session. No other file changes the phase.

#include "processor/session/session_machine.hpp"

#include <algorithm>
#include <utility>

#include "core/backoff.hpp"

namespace sessionq::detail::processor {
namespace {

/// Returns half of a bound. Zero is no bound: returns `Duration::max()`.
Duration half_of(Duration bound) noexcept {
    return bound == Duration::zero() ? Duration::max() : bound / 2;
}

Duration longest_hold(const SessionSettings& settings) noexcept {
    return settings.options.max_hold.value_or(Duration::zero());
}

TimePoint hold_end(const SessionSettings& settings, TimePoint now) noexcept {
    const Duration hold = longest_hold(settings);
    return hold > Duration::zero() ? Deadline::after(hold, now).time() : TimePoint::max();
}

} // namespace

SessionMachine::SessionMachine(const SessionSettings& settings, SessionStart start, TimePoint now)
    : settings_{settings},
      now_{now},
      actions_{settings.action_memory},
      calls_{start.calls},
      idle_{start.limits.idle_timeout},
      flow_{settings, std::move(start)},
      lock_{settings.options.max_lock_renewal},
      settle_wait_{settings.tuning.settle_timeout},
      gather_clock_{settings.batch, half_of(settings.options.max_lock_renewal),
                    Deadline::after(half_of(longest_hold(settings)), now).time()},
      attempts_{settings.options.crash_guard},
      progress_at_{now},
      hold_until_{hold_end(settings, now)} {}

// Opening

void SessionMachine::given(ports::FirstCredit first) { flow_.given(first, now_); }

void SessionMachine::hold_back() { add(action::PauseLane{}); }

void SessionMachine::let_in() {
    if (phase_ == Phase::held_back) {
        add(action::ResumeLane{});
        begin();
    }
}

void SessionMachine::begin() {
    if (phase_ != Phase::held_back) {
        return;
    }
    opened_ = true;
    closes_ = settings_.has_close;
    add(action::CountOpened{});
    opening_call_ = settings_.has_open;
    progress_at_ = now_;
    phase_ = Phase::working;
    idle_.start(now_);
    if (opening_call_) { // on_session_open stops the idle clock while it runs
        phase_ = Phase::opening;
        idle_.begin();
        add(action::RunOpen{});
    }
    grant();
    if (!opening_call_ && idle_.timeout() == Duration::zero()) {
        drain(); // R4: ask at once whether there is anything
    }
}

void SessionMachine::open_ended(bool succeeded, std::uint32_t failed_before) {
    if (!opening_call_) {
        return;
    }
    opening_call_ = false;
    ++holds_;
    idle_.end(now_);
    add(action::LimitLane{calls_});
    if (phase_ == Phase::opening && succeeded) {
        phase_ = Phase::working;
    } else if (phase_ == Phase::opening) { // parked, as after a failed message
        progress_at_ = now_;
        const Duration full = core::Backoff::at(settings_.options.error_backoff, failed_before);
        park(now_ + core::Backoff::jittered(full, settings_.random), CloseReason::open_failed);
    }
    if (phase_ == Phase::working) {
        release_holds(); // the messages that wait may start
        grant();
    }
    step();
    react();
}

void SessionMachine::open_skipped() {
    closes_ = false; // on_session_open did not run
    opening_call_ = false;
    idle_.end(now_);
    step();
}

// Messages' wishes

/// Makes the changes that messages want from the session. A change may lead to further wishes.
void SessionMachine::react() {
    while (wishes_.any) {
        const MessageWishes wishes = std::exchange(wishes_, {});
        if (wishes.dead_letters) {
            dead_letters_ = true;
            idle_.roll_at_once();
            add(action::TakeBack{});
        }
        if (wishes.turn_over && !is_leaving()) {
            start_leaving(CloseReason::max_messages);
        }
        wait(wishes);
        if (wishes.rewinds) {
            rewind();
        }
        if (wishes.gone) {
            message_gone();
        } else if (wishes.makes_room) {
            grant();
        }
    }
    if (!opening_call_) {
        free_slot();
    }
}

void SessionMachine::wait(const MessageWishes& wishes) {
    if (wishes.suspect != nullptr) {
        examine(*wishes.suspect);
    }
    if (wishes.retries_at != TimePoint{}) {
        add(action::WriteDelay{delay_.begin(wishes.retries_at, now_)});
        wait(wishes.retries_at);
    }
    if (wishes.parks_until != TimePoint{} && phase_ != Phase::parked) {
        park(wishes.parks_until, CloseReason::parked);
    }
}

/// Parks the session until `until`, because its record says so or is about to say so.
void SessionMachine::wait(TimePoint until) {
    if (phase_ == Phase::parked) {
        parked_until_ = std::max(parked_until_, until);
    } else if (!is_leaving()) {
        park(until, CloseReason::parked);
    }
    waits_ = phase_ == Phase::parked;
}

/// Parks the session until `until`. After that, the session is left for `reason`. The session keeps
/// its slot if too many sessions are parked.
void SessionMachine::park(TimePoint until, CloseReason reason) {
    if (settings_.parked.try_take()) {
        counted_in_ = &settings_.parked;
    }
    reason_ = reason;
    phase_ = Phase::parked;
    parked_until_ = until;
    add(action::PauseLane{});
    if (!drain()) {
        take_all_back(Phase::parked);
    }
}

void SessionMachine::message_gone() {
    if (phase_ == Phase::putting_back && in_flight() == 0) {
        phase_ = Phase::working; // all is back: the failed message is the next to come
        release_holds();
    }
    grant();
    keep(attempts_.gone());
    step();
}

/// Sends a failed message and the messages behind it back. A session that is parked or drains sends
/// its messages back anyway.
void SessionMachine::rewind() {
    if (phase_ == Phase::leaving) {
        take_all_back(Phase::leaving);
    } else if (phase_ <= Phase::working || phase_ == Phase::idling_out ||
               phase_ == Phase::putting_back) {
        phase_ = Phase::rewinding;
        if (!drain()) {
            take_all_back(Phase::putting_back);
        }
    }
}

// Credit and idleness

void SessionMachine::grant() {
    if (!may_fetch() || rolls()) {
        return;
    }
    const std::uint32_t count = flow_.grant(in_flight(), set_aside(), turn_room());
    if (count != 0) {
        add(action::AddCredit{count});
    }
}

/// Asks for the credit back. Returns whether an answer is awaited. Without credit there is none.
bool SessionMachine::drain() {
    if (flow_.drain(now_)) {
        add(action::Drain{});
    }
    return flow_.is_draining();
}

void SessionMachine::drained() {
    if (flow_.drained(now_) || phase_ != Phase::idling_out) {
        after_drain();
    } else { // perhaps answered before the grant: drain again
        phase_ = Phase::working;
        grant();
        idle_out();
    }
    gather();
    react();
}

/// The broker has answered the drain, or the credit is closed. If the credit is closed, the broker
/// may still send messages, and the link is of no more use. Closing the link gives these messages
/// back.
void SessionMachine::after_drain() {
    if (phase_ == Phase::draining) {
        take_all_back(Phase::leaving);
    } else if (is_leaving()) {
        return;
    } else if (phase_ == Phase::idling_out && idle_.fire()) {
        start_leaving(dead_letters_ ? CloseReason::dead_lettered : CloseReason::idle);
    } else if (flow_.is_closed()) {
        start_leaving(CloseReason::unresponsive);
    } else if (phase_ == Phase::parked) {
        take_all_back(Phase::parked);
    } else if (phase_ == Phase::rewinding) {
        take_all_back(Phase::putting_back);
    } else if (phase_ == Phase::idling_out) {
        phase_ = Phase::working; // a message came before the drain's answer (R3)
    }
    grant();
}

void SessionMachine::idle_out() {
    phase_ = Phase::idling_out;
    if (!drain()) {
        after_drain();
    }
}

// The steps of leaving: drain the credit, give back the unstarted messages, wait until the running
// handlers have ended, call on_session_close, give the session back (R3, R15)

void SessionMachine::leave(CloseReason reason) {
    if (!is_leaving()) {
        start_leaving(reason);
    }
    react();
}

void SessionMachine::start_leaving(CloseReason reason) {
    reason_ = reason;
    if (!removes()) {
        add(action::PauseLane{});
    }
    // A message that goes back before the drain's answer would come again on the credit left.
    phase_ = Phase::draining;
    if (!drain()) {
        take_all_back(Phase::leaving);
    }
}

/// Enters `phase`, and gives back the messages that wait in the lane.
void SessionMachine::take_all_back(Phase phase) {
    phase_ = phase;
    if (removes()) { // messages that arrived cannot go back: they are handled first
        gather();
        all_back();
    } else {
        add(action::TakeBack{});
        step();
    }
}

void SessionMachine::all_taken_back() {
    take_back_gathered();
    all_back();
    react();
}

/// Goes on with the phase: no message waits in the lane any more.
void SessionMachine::all_back() {
    took_back_ = took_back_ || phase_ == Phase::parked;
    if (phase_ == Phase::leaving && lost_ && !lists_.handlers_run()) {
        drop_link();
    }
    let_back();
    step();
}

/// Gives the failed messages back, unless they must wait. They wait for the write of the session's
/// record, because the record tells the next holder to wait. They also wait for running handlers of
/// earlier messages. An earlier message that went back later would be delivered first, and nothing
/// would tell its holder to wait. Returns whether they go back.
bool SessionMachine::let_back() {
    const bool is_due = phase_ == Phase::parked
                            ? took_back_ && waits_
                            : phase_ == Phase::putting_back || phase_ == Phase::leaving;
    if (!is_due) {
        return false;
    }
    const bool in_the_way = settings_.ordered && !removes() && lists_.handlers_run();
    const bool is_kept = is_writing() || in_the_way;
    if (is_kept && usable()) {
        return false;
    }
    let_all_back();
    return true;
}

/// Frees the slot of a parked session whose handlers have returned. Also frees the slot of a
/// session that is left as soon as its settlements are answered (R4). In both cases the
/// `SessionCount` must have a place for the session.
void SessionMachine::free_slot() {
    if (seat_ != Seat::slot || (phase_ != Phase::parked && !only_settles())) {
        return;
    }
    if (phase_ != Phase::parked) {
        if (counted_in_ != nullptr || !settings_.settling.try_take()) {
            return;
        }
        counted_in_ = &settings_.settling;
        seat_ = Seat::settling;
        add(action::FreeSlot{reason_});
    } else if (counted_in_ != nullptr && took_back_ && !lists_.handlers_run()) {
        seat_ = Seat::parked;
        add(action::CountParked{});
        add(action::FreeSlot{reason_});
    }
}

/// Goes on with leaving if nothing is in flight any more. Called when something has ended.
void SessionMachine::step() {
    if (phase_ != Phase::leaving || idle_.in_flight() != 0) {
        return;
    }
    if (usable()) { // the session's record is written first
        if (is_writing()) {
            return;
        }
        const AttemptSteps steps = attempts_.tidy();
        keep(steps);
        if (steps.write) {
            return;
        }
    }
    if (!closes_) {
        close();
        return;
    }
    phase_ = Phase::closing_call;
    add(action::RunClose{reason_});
    release_holds();
    add(action::ResumeLane{});
}

void SessionMachine::close_ended() {
    if (phase_ == Phase::closing_call) {
        close();
    }
}

void SessionMachine::close() {
    idle_.dispose();
    phase_ = Phase::closing_link;
    if (!lost_) {
        close_by_ = now_ + settings_.tuning.close_timeout;
        add(action::CloseLink{});
    }
    if (counted_in_ != nullptr) {
        counted_in_->release();
    }
    add(action::LetGo{.reason = reason_, .opened = opened_});
    if (seat_ == Seat::slot) {
        add(action::FreeSlot{reason_});
    }
    if (lost_) {
        link_closed();
    }
}

void SessionMachine::link_closed() {
    if (phase_ == Phase::closing_link) {
        phase_ = Phase::finished;
        keep({.end_turn = attempts_.end_turn()});
        add(action::Finish{});
    }
}

// The lock (R13)

void SessionMachine::link_lost(Errc code) {
    lose(code == Errc::lock_lost ? CloseReason::lock_lost : CloseReason::connection_lost);
    react();
}

void SessionMachine::give_up() {
    if (usable()) {
        lose_lock(CloseReason::stopped, false);
    }
    if (phase_ != Phase::finished) {
        drop_link();
    }
    react();
}

void SessionMachine::lose(CloseReason reason) {
    if (usable()) {
        lose_lock(reason, true);
    }
}

void SessionMachine::lose_lock(CloseReason reason, bool is_lost) {
    lost_ = true;
    flow_.close();
    if (phase_ == Phase::closing_link) {
        drop_link();
        link_closed();
        return;
    }
    reason_ = reason;
    add(action::EndLock{is_lost});
    if (phase_ == Phase::closing_call) {
        drop_link();
        return;
    }
    phase_ = Phase::leaving;
    add(action::PauseLane{});
    add(action::TakeBack{});
}

// Limits

void SessionMachine::limit_calls(std::uint32_t calls) {
    calls_ = calls;
    flow_.limit_handled(window_half(calls, settings_.batch));
    if (!opening_call_ && phase_ < Phase::closing_call) { // else `open_ended` does it
        add(action::LimitLane{calls_});
    }
}

void SessionMachine::limit(const SessionLimits& limits) {
    flow_.configure(limits.prefetch);
    if (!dead_letters_) { // else the session leaves as soon as it is idle
        idle_.set_timeout(limits.idle_timeout);
        flow_.forget_ahead();
    }
    grant();
}

} // namespace sessionq::detail::processor
