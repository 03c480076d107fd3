// SPDX-License-Identifier: MIT
#include "processor/session_driver.hpp"

#include <utility>

#include "core/log_events.hpp"
#include "core/session_id.hpp"
#include "processor/session_log.hpp"
#include "processor/shard.hpp"

namespace sessionq::processor {
namespace {

MessageCall& call_of(const SessionAction& action) {
    return static_cast<MessageCall&>(*action.message);
}

/// The message is settled or gone: its own lock is not renewed any more.
void drop_own_lock(ports::OwnLocks* locks, const MessageCall& call) {
    if (locks != nullptr) {
        locks->remove(call.own_lock.get());
    }
}

/// Names the session among those that this process holds.
HeldSessions::Key held_key(const SessionView& session) {
    const bool folds = session.workplace().endpoint.capabilities().has(
        ports::Capability::session_ids_without_case);
    return {session.entity(),
            folds ? core::fold_session_id(session.session_id()) : session.session_id()};
}

void trace_settling(MessageCall& call, const SessionView& session) {
    const core::TracingPtr& tracing = session.shared().environment.tracing;
    if (tracing == nullptr) {
        return; // before the arguments are made
    }
    core::MessageSpans::settling(call.spans, tracing, span_place(session), call.message,
                                 {.name = to_string(call.outcome()),
                                  .goes_back = call.outcome() == ports::Outcome::release});
}

} // namespace

SessionDriver::SessionDriver(Shard& shard, const SessionSeat& seat, ports::SessionLinkPtr link)
    : shard_{shard},
      seat_{seat},
      link_{std::move(link)},
      view_{shard.workplace(),
            shard.slots().accepts().targets()[seat.target].entity_at(link_->entity_index()),
            link_->session_id(), shard.slots().calls_per_session()},
      record_{*link_, view_},
      machine_{shard.terms(link_->share()), view_.loop().now()} {
    if (ports::MessageLocks* const locks = link_->message_locks()) {
        own_locks_ = std::make_unique<ports::OwnLocks>(
            view_.loop(), *view_.shared().environment.notifier, *locks,
            ports::OwnLocks::Terms{
                .max_renewal = view_.workplace().options().max_lock_renewal,
                .renewed =
                    [this](Duration took, const core::Result<ports::LockGrant>& answer) {
                        log_short_lock(view_, took, answer);
                    },
                .lost =
                    [this](ports::Delivery* held) {
                        view_.workplace().meters.counters.locks_lost.add();
                        view_.report(
                            ErrorSource::lock_renewal,
                            {.code = Errc::lock_lost, .detail = "the lock of a message ended"});
                        if (held != nullptr) { // else a handler asked for it
                            feed(&SessionMachine::lock_ended, static_cast<MessageCall&>(*held));
                        }
                    }});
    }
}

void SessionDriver::open() {
    const ports::FirstCredit first = link_->set_events(*this);
    if (view_.shared().scope == ports::Scope::session) {
        core::trace_accept(view_.shared().environment.tracing, span_place(view_), seat_.asked_at);
    }
    feed(&SessionMachine::given, first);
    feed(&SessionMachine::locked, seat_.asked_at, link_->initial_lock());
    const bool alone =
        own_locks_ != nullptr || // its messages are locked one by one
        view_.shared().held.hold(held_key(view_), this, view_.loop(), [weak = weak_from_this()] {
            if (const auto driver = weak.lock()) {
                driver->feed(&SessionMachine::let_in);
            }
        });
    feed(alone ? &SessionMachine::begin : &SessionMachine::hold_back);
}

// What the link tells

void SessionDriver::on_delivery(ports::DeliveryPtr delivery) {
    auto& call = static_cast<MessageCall&>(*delivery.release());
    if (own_locks_) {
        call.own_lock = own_locks_->add(call, &call);
    }
    if (machine_.attempts().suspects(call.message.delivery_count(), call.holder_lost,
                                     machine_.had_messages())) {
        call.note_suspect(
            {.sequence = call.message.sequence_number(), .holder_lost = call.holder_lost});
    }
    log_received(view_, call.message);
    Meters& meters = view_.workplace().meters;
    meters.counters.received(call.message.delivery_count());
    if (machine_.in_flight() == 0) {
        call.times.ready = view_.loop().now();
    }
    if (machine_.begins_with_message()) {
        meters.rolled(seat_.left_at, view_.loop().now());
    }
    feed(&SessionMachine::arrived, call, call.bytes, call.settled_by_sender);
}

void SessionDriver::on_settled(ports::Delivery& delivery, const Failure* failure) {
    if (delivery.asked_for) {
        asked_->settled(delivery, failure);
        return;
    }
    auto& call = static_cast<MessageCall&>(delivery);
    core::MessageSpans::settled(call.spans, failure);
    Meters& meters = view_.workplace().meters;
    meters.counters.settled(call.outcome(), failure == nullptr);
    meters.answered(call.times.settled, view_.loop().now(), failure == nullptr,
                    ports::expires(call.own_lock.get(), machine_.lock().expires()));
    if (failure != nullptr) {
        view_.report(ErrorSource::settlement, *failure,
                     {.message = &call.message, .fate = MessageFate::comes_again});
    }
    feed(&SessionMachine::answered, call, failure);
}

void SessionDriver::on_lost(const Failure& reason) {
    view_.report(ErrorSource::link, reason);
    link_.reset();
    asked_.reset();
    own_locks_.reset();
    record_.state().drop();
    feed(&SessionMachine::link_lost, reason.code);
}

// What the workers tell

void SessionDriver::ended(MessageCall& call) {
    const Ending ending = call.end().ending;
    Meters& meters = view_.workplace().meters;
    meters.counters.ended(ending, call.attempt());
    meters.handled(call.times, ending);
    view_.workplace().tally.drained += static_cast<std::uint64_t>(ran(ending));
    machine_.at(view_.loop().now()).progressed();
    perform();
    feed(&SessionMachine::ended, call, call.end());
}

void SessionDriver::session_call_ended() {
    const std::unique_ptr<SessionCall> call = std::move(session_call_);
    const auto& failure = call->failure();
    std::uint32_t before = 0;
    if (call->opens()) {
        OpenBook& failures = view_.shared().open_failures;
        const SessionKey key = held_key(view_);
        if (failure) {
            before = failures.failed(key);
        } else {
            failures.succeeded(key);
        }
    }
    if (failure) {
        view_.report(call->opens() ? ErrorSource::session_open : ErrorSource::session_close,
                     {.code = Errc::handler_failed, .detail = *failure});
    }
    if (call->opens()) {
        feed(&SessionMachine::open_ended, !failure, before);
    } else {
        feed(&SessionMachine::close_ended);
    }
}

// Actions

bool SessionDriver::perform() {
    return machine_.actions().run([this](const SessionAction& action) { perform(action); });
}

void SessionDriver::perform(const SessionAction& action) {
    using Kind = SessionAction::Kind;
    Meters& meters = view_.workplace().meters;
    Counters& counters = meters.counters;
    dispatch::Lane& lane = view_.lane();
    switch (action.kind) {
    case Kind::count_opened:
        counters.sessions_opened.add();
        log_session(view_, core::events::session_opened, " is opened");
        break;
    case Kind::show_lock:
        counters.lock_renewals.add(action.count);
        view_.show(machine_.lock());
        break;
    case Kind::renew_lock: renew_lock(); break;
    case Kind::read_record:
        record_.read([this](const auto& delay) {
            machine_.attempts().known(record_.attempts());
            feed(&SessionMachine::examined, delay);
        });
        break;
    case Kind::write_record:
        record_.write(action.delay, [this] { feed(&SessionMachine::came, Awaited::delay_kept); });
        break;
    case Kind::write_attempts:
        record_.write(machine_.attempts().noted(),
                      [this] { feed(&SessionMachine::came, Awaited::attempts_kept); });
        break;
    case Kind::take_turn:
        view_.shared().suspects.take(this, view_.loop(), action.count, [weak = weak_from_this()] {
            if (const auto driver = weak.lock()) {
                driver->feed(&SessionMachine::came, Awaited::turn);
            }
        });
        break;
    case Kind::end_turn: view_.shared().suspects.ended(this); break;
    case Kind::warn: view_.fire_stop(); break;
    case Kind::lock_over:
        counters.locks_lost.add(action.count);
        view_.end_lock();
        break;
    case Kind::report_expired:
        view_.report(ErrorSource::lock_renewal,
                     {.code = Errc::lock_lost, .detail = "the lock expired"});
        break;
    case Kind::report_slow:
        view_.report(ErrorSource::lock_renewal,
                     {.code = Errc::lock_lost,
                      .detail = "the lock is not renewed: no handler of the session finished "
                                "within max_lock_renewal"});
        break;
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
    case Kind::report_failed: {
        const MessageCall& call = call_of(action);
        view_.report(
            ErrorSource::message_handler,
            {.code = Errc::handler_failed, .detail = std::string{call.end().failure_text()}},
            {.message = &call.message, .attempt = call.attempt(), .fate = action.fate});
        break;
    }
    case Kind::limit_lane: lane.set_max_calls(action.count); break;
    case Kind::take_back: take_back(); break;
    case Kind::enqueue:
        lane.push(call_of(action));
        shard_.lane_ready();
        break;
    case Kind::put_back:
        call_of(action).times.ready = view_.loop().now();
        lane.put_back(call_of(action));
        shard_.lane_ready();
        break;
    case Kind::settle:
        view_.workplace().tally.released += action.count;
        static_cast<void>(call_of(action).decide(
            settlement_for(action.verdict, call_of(action).end().failure_text())));
        drop_own_lock(own_locks_.get(), call_of(action));
        trace_settling(call_of(action), view_);
        log_settling(view_, call_of(action).message, call_of(action).outcome());
        call_of(action).times.settled = view_.loop().now();
        link_->settle(call_of(action), call_of(action).take_settlement());
        break;
    case Kind::dispose:
        counters.messages_lost.add(action.count);
        drop_own_lock(own_locks_.get(), call_of(action));
        delete &call_of(action);
        break;
    case Kind::add_credit: link_->add_credit(action.count); break;
    case Kind::drain: link_->drain(); break;
    case Kind::run_open:
        meters.rolled(seat_.left_at, view_.loop().now());
        run_call(std::nullopt);
        break;
    case Kind::run_close: run_call(machine_.close_reason()); break;
    case Kind::drop_link:
        link_.reset();
        asked_.reset();
        own_locks_.reset();
        record_.state().drop();
        break;
    case Kind::close_link:
        link_->close([this, asked = view_.loop().now()](const core::Result<core::Done>& done) {
            if (done.ok()) {
                shard_.slots().accepts().closed_in(view_.loop().now() - asked);
            }
            feed(&SessionMachine::link_closed);
        });
        break;
    case Kind::count_parked: counters.sessions_parked.add(); break;
    case Kind::let_go:
        meters.closed(machine_.close_reason(), action.count, view_.loop().now() - seat_.granted_at);
        view_.shared().held.ended(held_key(view_), this);
        shard_.slots().accepts().let_go(seat_.target);
        if (action.count != 0) {
            log_session(view_, core::events::session_closed,
                        " is closed: ", to_string(machine_.close_reason()));
        }
        break;
    case Kind::free_slot:
        shard_.slots().session_left(seat_, machine_.close_reason(), machine_.had_messages());
        break;
    case Kind::finish: shard_.session_ended(*this); break;
    }
}

void SessionDriver::take_back() {
    core::IntrusiveList<dispatch::Call, dispatch::Lane> waiting;
    view_.lane().take_back(waiting);
    machine_.at(view_.loop().now());
    while (dispatch::Call* each = waiting.pop_front()) {
        if (each == session_call_.get()) {
            session_call_.reset();
            machine_.open_skipped();
        } else {
            machine_.taken_back(static_cast<MessageCall&>(*each));
        }
    }
    machine_.all_taken_back();
}

void SessionDriver::renew_lock() {
    link_->renew_lock(machine_.lock().expires(), [this, asked = view_.loop().now()](
                                                     const core::Result<ports::LockGrant>& answer) {
        const TimePoint now = view_.loop().now();
        view_.workplace().meters.renewed(answer.ok(), now, machine_.lock().expires());
        log_short_lock(view_, now - asked, answer);
        if (machine_.keeps_lock() && !answer.ok()) {
            view_.report(ErrorSource::lock_renewal, answer.failure());
        }
        feed(&SessionMachine::renewed, asked, answer);
    });
}

void SessionDriver::run_call(std::optional<CloseReason> closes) {
    session_call_ = std::make_unique<SessionCall>(*this, closes);
    view_.lane().set_max_calls(1); // no message beside it, also where several may run at once
    view_.lane().push(*session_call_);
    shard_.lane_ready();
}

SessionSigns SessionDriver::signs(TimePoint quiet_since) const {
    SessionSigns signs{.entity = view_.entity(),
                       .session_id = view_.session_id(),
                       .words = machine_.words(),
                       .progress_at = machine_.progress_at(),
                       .unanswered_since = machine_.messages().unanswered_since(),
                       .window = machine_.window(),
                       .in_flight = machine_.in_flight(),
                       .renewal_late = machine_.lock().is_late(view_.loop().now()),
                       .parked = machine_.phase() == SessionMachine::Phase::parked,
                       .open_failed = machine_.close_reason() == CloseReason::open_failed};
    if (signs.progress_at <= quiet_since) {
        const std::size_t waiting = view_.lane().waiting();
        signs.running = machine_.messages().in_lane() - static_cast<std::uint32_t>(waiting) +
                        (session_call_ ? 1U : 0U);
        signs.ready_for = machine_.messages().ready_for(view_.loop().now(), signs.running);
        signs.awaits_worker = machine_.messages().needs_workers() && waiting != 0 &&
                              signs.running < shard_.slots().calls_per_session();
    }
    return signs;
}

} // namespace sessionq::processor
