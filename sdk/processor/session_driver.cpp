#include "processor/session_driver.hpp"

#include <algorithm>
#include <utility>

#include "processor/shard.hpp"
#include "processor/slot_words.hpp"

namespace sessionq::processor {
namespace {

MessageCall& call_of(const SessionAction& action) {
    return static_cast<MessageCall&>(*action.message);
}

ports::Settlement settlement_for(const SessionAction& action) {
    switch (action.verdict) {
    case Verdict::complete: return {.outcome = ports::Outcome::complete};
    case Verdict::abandon: return {.outcome = ports::Outcome::abandon};
    case Verdict::release: return {.outcome = ports::Outcome::release};
    case Verdict::dead_letter_failed:
        return {.outcome = ports::Outcome::dead_letter,
                .dead_letter = {.reason = "HandlerFailed",
                                .description = call_of(action).failure_text()}};
    case Verdict::dead_letter_expired:
        return {.outcome = ports::Outcome::dead_letter,
                .dead_letter = {.reason = "DeadlinePassed"}};
    case Verdict::dead_letter_session:
        return {.outcome = ports::Outcome::dead_letter,
                .dead_letter = {.reason = "SessionDeadLettered"}};
    }
    return {};
}

} // namespace

SessionDriver::SessionDriver(Shard& shard, const SessionSeat& seat, ports::SessionLinkPtr link)
    : shard_{shard},
      seat_{seat},
      link_{std::move(link)},
      view_{shard.workplace(), shard.slots().target(seat.target).entity, link_->session_id(),
            shard.slots().calls_per_session()},
      machine_{shard.terms(), shard.workplace().loop().now()} {}

SessionDriver::~SessionDriver() = default;

void SessionDriver::open() {
    core::EventLoop& loop = view_.workplace().loop();
    link_->set_events(*this);
    lock_.accepted(seat_.asked_at, loop.now(), link_->initial_lock());
    look_at_lock();
    const auto begin = [](SessionMachine& machine, TimePoint now, SessionActions& out) {
        machine.begin(now, out);
    };
    const bool alone = view_.workplace().shared->held.hold(
        {view_.entity(), view_.session_id()}, this, loop, [weak = weak_from_this(), begin] {
            if (const auto driver = weak.lock()) {
                driver->feed(begin);
            }
        });
    if (alone) {
        feed(begin);
    } else {
        arm();
    }
}

// What the link tells

void SessionDriver::on_delivery(ports::DeliveryPtr delivery) {
    auto& call = static_cast<MessageCall&>(*delivery.release());
    feed([&call](SessionMachine& machine, TimePoint now, SessionActions& out) {
        if (machine.in_flight() == 0) {
            call.ready_at = now;
        }
        machine.arrived(call, call.bytes, call.settled_by_sender, now, out);
    });
}

void SessionDriver::on_settled(ports::Delivery& delivery, const Failure* failure) {
    auto& call = static_cast<MessageCall&>(delivery);
    Counters& counters = view_.workplace().shared->counters;
    if (failure != nullptr) {
        Counters::add(counters.settlement_failures);
        view_.report(ErrorSource::settlement, *failure);
    } else if (call.outcome() == ports::Outcome::complete) {
        Counters::add(counters.messages_completed);
    } else if (call.outcome() == ports::Outcome::release) {
        Counters::add(counters.messages_released);
    }
    feed([&](SessionMachine& machine, TimePoint now, SessionActions& out) {
        machine.answered(call, failure, now, out);
    });
}

void SessionDriver::on_drained() {
    feed([](SessionMachine& machine, TimePoint now, SessionActions& out) {
        machine.drained(now, out);
    });
}

void SessionDriver::on_lock_uncertain() {
    lock_.became_uncertain(view_.workplace().loop().now());
    arm();
}

void SessionDriver::on_lost(const Failure& reason) {
    view_.report(ErrorSource::link, reason);
    link_.reset();
    const CloseReason why =
        reason.code == Errc::lock_lost ? CloseReason::lock_lost : CloseReason::connection_lost;
    feed([why](SessionMachine& machine, TimePoint now, SessionActions& out) {
        machine.lose(why, now, out);
    });
}

// What the workers tell

void SessionDriver::ended(MessageCall& call) {
    Counters& counters = view_.workplace().shared->counters;
    const bool ran = call.end().ending == Ending::handled || call.end().ending == Ending::failed;
    view_.workplace().tally.drained += ran ? 1 : 0;
    switch (call.end().ending) {
    case Ending::handled: Counters::add(counters.messages_handled); break;
    case Ending::failed:
        Counters::add(counters.messages_failed);
        view_.report(ErrorSource::message_handler,
                     {.code = Errc::handler_failed, .detail = call.failure_text()});
        break;
    case Ending::expired: Counters::add(counters.messages_expired); break;
    case Ending::not_started: break;
    }
    machine_.note_progress(view_.workplace().loop().now());
    look_at_lock(); // it ends now, or was renewed meanwhile, or a renewal that was held back is due
    feed([&call](SessionMachine& machine, TimePoint now, SessionActions& out) {
        machine.ended(call, call.end(), now, out);
    });
}

void SessionDriver::session_call_ended() {
    const std::unique_ptr<SessionCall> call = std::move(session_call_);
    const bool opens = call->kind() == SessionCall::Kind::open;
    const std::string* const failure = call->failure();
    if (failure != nullptr) {
        view_.report(opens ? ErrorSource::session_open : ErrorSource::session_close,
                     {.code = Errc::handler_failed, .detail = *failure});
    }
    feed([&](SessionMachine& machine, TimePoint now, SessionActions& out) {
        if (opens) {
            machine.open_ended(failure == nullptr, now, out);
        } else {
            machine.close_ended(now, out);
        }
    });
}

// Time and the lock

void SessionDriver::on_due() {
    look_at_lock();
    feed(
        [](SessionMachine& machine, TimePoint now, SessionActions& out) { machine.due(now, out); });
}

void SessionDriver::look_at_lock() {
    if (!machine_.keeps_lock()) {
        return;
    }
    const TimePoint looked = view_.workplace().loop().now();
    const ports::LockActions actions = lock_.look(looked, !machine_.is_slow(looked));
    view_.show(lock_);
    if (actions.lost) {
        view_.report(ErrorSource::lock_renewal,
                     {.code = Errc::lock_lost, .detail = "the lock expired"});
        machine_.lose_soon(CloseReason::lock_lost);
    }
    if (actions.warn) {
        view_.fire_stop();
        feed([](SessionMachine& machine, TimePoint now, SessionActions& out) {
            machine.leave(CloseReason::lock_lost, now, out);
        });
    }
    if (actions.renew) {
        renew();
    }
}

void SessionDriver::renew() {
    const TimePoint asked = view_.workplace().loop().now();
    link_->renew_lock(lock_.expires(), [this, asked](const core::Result<ports::LockGrant>& answer) {
        if (!machine_.keeps_lock()) {
            return;
        }
        if (answer.ok()) {
            Counters::add(view_.workplace().shared->counters.lock_renewals);
        } else {
            view_.report(ErrorSource::lock_renewal, answer.failure());
        }
        if (lock_.answered(asked, view_.workplace().loop().now(), answer).lost) {
            machine_.lose_soon(CloseReason::lock_lost);
        }
        look_at_lock();
        arm();
    });
}

void SessionDriver::arm() {
    const TimePoint lock_due = machine_.keeps_lock() ? lock_.next() : TimePoint::max();
    view_.workplace().loop().timers().set_due(timer_, std::min(machine_.next(), lock_due));
}

// Actions

void SessionDriver::perform(const SessionAction& action) {
    using Kind = SessionAction::Kind;
    Workplace& workplace = view_.workplace();
    Counters& counters = workplace.shared->counters;
    dispatch::Lane& lane = view_.lane();
    switch (action.kind) {
    case Kind::count_opened: Counters::add(counters.sessions_opened); break;
    case Kind::count_lost: Counters::add(counters.locks_lost); break;
    case Kind::lock_over: view_.end_lock(); break;
    case Kind::report_silent:
        view_.report(ErrorSource::settlement,
                     {.code = Errc::timeout, .detail = "the broker does not answer settlements"});
        break;
    case Kind::pause_lane: lane.pause(); break;
    case Kind::resume_lane: lane.resume(); break;
    case Kind::release_lane:
        for (std::uint32_t i = 0; i < action.count; ++i) {
            lane.release();
        }
        break;
    case Kind::limit_lane: view_.limit_calls(action.count); break;
    case Kind::take_back: take_back(); break;
    case Kind::enqueue:
        lane.push(call_of(action));
        shard_.touched();
        break;
    case Kind::put_first:
        call_of(action).ready_at = workplace.loop().now();
        lane.push_front(call_of(action));
        shard_.touched();
        break;
    case Kind::settle:
        workplace.tally.released += action.verdict == Verdict::release ? 1 : 0;
        static_cast<void>(call_of(action).decide(settlement_for(action)));
        link_->settle(call_of(action), call_of(action).take_settlement());
        break;
    case Kind::dispose: delete &call_of(action); break;
    case Kind::add_credit: link_->add_credit(action.count); break;
    case Kind::drain: link_->drain(); break;
    case Kind::run_open:
    case Kind::run_close:
        session_call_ = std::make_unique<SessionCall>(
            *this,
            action.kind == Kind::run_open ? SessionCall::Kind::open : SessionCall::Kind::close,
            machine_.close_reason());
        lane.set_max_calls(1); // no message beside it, also where several may run at once
        lane.push(*session_call_);
        shard_.touched();
        break;
    case Kind::drop_link: link_.reset(); break;
    case Kind::close_link:
        link_->close([this](const core::Result<core::Done>&) {
            feed([](SessionMachine& machine, TimePoint, SessionActions& out) {
                machine.link_closed(out);
            });
        });
        break;
    case Kind::leave_slot:
        if (machine_.was_opened()) {
            Counters::add(counters.sessions_closed);
        }
        workplace.shared->held.ended({view_.entity(), view_.session_id()}, this);
        shard_.session_left(seat_, machine_.close_reason(), machine_.had_messages());
        break;
    case Kind::finish: shard_.session_ended(*this); break;
    }
}

void SessionDriver::take_back() {
    core::IntrusiveList<dispatch::Call, dispatch::Lane> waiting;
    view_.lane().take_back(waiting);
    feed([&](SessionMachine& machine, TimePoint now, SessionActions& out) {
        while (dispatch::Call* each = waiting.pop_front()) {
            if (each == session_call_.get()) {
                session_call_.reset();
                machine.open_skipped(now, out);
            } else {
                machine.taken_back(static_cast<MessageCall&>(*each), now, out);
            }
        }
        machine.all_taken_back(now, out);
    });
}

SlotDescription SessionDriver::describe(TimePoint now) const {
    const SlotWords words = words_for({.phase = machine_.phase(),
                                       .retrying = machine_.messages().is_retrying(),
                                       .in_flight = machine_.in_flight() != 0,
                                       .settling = machine_.messages().is_settling(),
                                       .draining = machine_.is_draining(),
                                       .expecting = machine_.is_expecting()});
    return {.entity = view_.entity(),
            .session_id = view_.session_id(),
            .state = std::string{words.state},
            .waits_for = std::string{words.waits_for},
            .since = now - machine_.progress_at(),
            .in_flight = machine_.in_flight(),
            .running = machine_.messages().in_lane() -
                       static_cast<std::uint32_t>(view_.lane().waiting()) +
                       (session_call_ ? 1U : 0U)};
}

} // namespace sessionq::processor
