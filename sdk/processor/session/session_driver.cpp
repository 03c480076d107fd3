// SPDX-License-Identifier: MIT
#include "processor/session/session_driver.hpp"

#include <utility>

#include "core/log_events.hpp"
#include "core/session_id.hpp"
#include "processor/report/session_log.hpp"

namespace sessionq::detail::processor {
namespace {

MessageCall& call_of(MessageMachine* message) { return static_cast<MessageCall&>(*message); }

/// Returns the key of the session in `SessionRegistry` and `OpenBook`.
SessionRegistry::Key held_key(const SessionView& session) {
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

SessionDriver::SessionDriver(SessionOwner& owner, Workplace& workplace, const SessionGrant& grant,
                             const std::string& entity, const SessionSettings& settings,
                             SessionStart start, ports::SessionLinkPtr link)
    : owner_{owner},
      grant_{grant},
      link_{std::move(link)},
      view_{workplace, entity, link_->session_id(), start.calls},
      record_{link_.state(), view_},
      machine_{settings, std::move(start), view_.loop().now()} {
    link_.keep_message_locks(
        view_.loop(), *view_.shared().environment.notifier,
        {.max_renewal = view_.workplace().options().max_lock_renewal,
         .renewed =
             [this](Duration took, const core::Result<ports::LockGrant>& answer) {
                 log_short_lock(view_, took, answer);
             },
         .lost =
             [this](ports::Delivery* held) {
                 view_.workplace().meters.counters.locks_lost.add();
                 view_.report(ErrorSource::lock_renewal,
                              {.code = Errc::lock_lost, .detail = "the lock of a message ended"});
                 if (held != nullptr) { // else a handler asked for the message
                     feed(&SessionMachine::lock_ended, static_cast<MessageCall&>(*held));
                 }
             }});
}

void SessionDriver::open() {
    const ports::FirstCredit first = link_->set_events(*this);
    if (view_.shared().scope == ports::Scope::session) {
        core::trace_accept(view_.shared().environment.tracing, span_place(view_), grant_.asked_at);
    }
    feed(&SessionMachine::given, first);
    feed(&SessionMachine::locked, grant_.asked_at, link_->initial_lock());
    const bool alone =
        link_.locks_messages() ||
        view_.shared().held.hold(held_key(view_), this, view_.loop(), [weak = weak_from_this()] {
            if (const auto driver = weak.lock()) {
                driver->feed(&SessionMachine::let_in);
            }
        });
    feed(alone ? &SessionMachine::begin : &SessionMachine::hold_back);
}

// Events of the link

void SessionDriver::on_delivery(ports::DeliveryPtr delivery) {
    auto& call = static_cast<MessageCall&>(*delivery.release());
    call.own_lock = link_.lock_of(call, &call);
    if (machine_.suspects(call.message.delivery_count(), call.holder_lost)) {
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
        meters.rolled(grant_.left_at, view_.loop().now());
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
    drop_link();
    feed(&SessionMachine::link_lost, reason.code);
}

// Notices of the workers

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

struct SessionDriver::Steps {
    SessionDriver& driver;

    void operator()(const action::CountOpened&) const {
        counters().sessions_opened.add();
        log_session(view(), core::events::session_opened, " is opened");
    }
    void operator()(const action::RunOpen&) const {
        view().workplace().meters.rolled(driver.grant_.left_at, now());
        driver.run_call(std::nullopt);
    }
    void operator()(const action::RunClose& step) const { driver.run_call(step.reason); }
    void operator()(const action::CountParked&) const { counters().sessions_parked.add(); }
    void operator()(const action::FreeSlot& step) const {
        driver.owner_.slot_free(driver.grant_, step.reason, driver.machine_.had_messages());
    }
    void operator()(const action::LetGo& step) const {
        view().workplace().meters.closed(step.reason, step.opened ? 1 : 0,
                                         now() - driver.grant_.granted_at);
        view().shared().held.ended(held_key(view()), &driver);
        driver.owner_.let_go(driver.grant_);
        if (step.opened) {
            log_session(view(), core::events::session_closed,
                        " is closed: ", to_string(step.reason));
        }
    }
    void operator()(const action::Finish&) const { driver.owner_.session_ended(driver); }

    void operator()(const action::PauseLane&) const { lane().pause(); }
    void operator()(const action::ResumeLane&) const { lane().resume(); }
    void operator()(const action::ReleaseLane& step) const {
        for (std::uint32_t i = 0; i < step.calls; ++i) {
            lane().release();
        }
    }
    void operator()(const action::LimitLane& step) const { lane().set_max_calls(step.calls); }
    void operator()(const action::TakeBack&) const { driver.take_back(); }

    void operator()(const action::Enqueue& step) const {
        lane().push(call_of(step.message));
        driver.owner_.lane_ready();
    }
    void operator()(const action::PutBack& step) const {
        call_of(step.message).times.ready = now();
        lane().put_back(call_of(step.message));
        driver.owner_.lane_ready();
    }
    void operator()(const action::Settle& step) const {
        driver.settle(call_of(step.message), step.resolution);
    }
    void operator()(const action::Dispose& step) const {
        counters().messages_lost.add(step.lost ? 1 : 0);
        driver.link_.forget(call_of(step.message).own_lock.get());
        delete &call_of(step.message);
    }
    void operator()(const action::ReportFailed& step) const {
        const MessageCall& call = call_of(step.message);
        view().report(
            ErrorSource::message_handler,
            {.code = Errc::handler_failed, .detail = std::string{call.end().failure_text()}},
            {.message = &call.message, .attempt = call.attempt(), .fate = step.fate});
    }

    void operator()(const action::AddCredit& step) const {
        driver.link_->add_credit(step.messages);
    }
    void operator()(const action::Drain&) const { driver.link_->drain(); }
    void operator()(const action::CloseLink&) const {
        driver.link_->close([self = &driver, asked = now()](const core::Result<core::Done>& done) {
            if (done.ok()) {
                const TimePoint now = self->view_.loop().now();
                self->owner_.closed_in(now - asked);
            }
            self->feed(&SessionMachine::link_closed);
        });
    }
    void operator()(const action::DropLink&) const { driver.drop_link(); }

    void operator()(const action::ShowLock& step) const {
        counters().lock_renewals.add(step.renewed ? 1 : 0);
        view().show(driver.machine_.lock());
    }
    void operator()(const action::RenewLock&) const { driver.renew_lock(); }
    void operator()(const action::WarnOfEnd&) const { view().fire_stop(); }
    void operator()(const action::EndLock& step) const {
        counters().locks_lost.add(step.lost ? 1 : 0);
        view().end_lock();
    }
    void operator()(const action::Report& step) const {
        view().report(step.source, {.code = step.code, .detail = step.detail});
    }

    void operator()(const action::ReadRecord&) const {
        driver.record_.read([self = &driver](const auto& delay) {
            self->feed(&SessionMachine::examined, delay, self->record_.attempts());
        });
    }
    void operator()(const action::WriteDelay& step) const {
        driver.record_.write(step.delay,
                             [self = &driver] { self->feed(&SessionMachine::delay_kept); });
    }
    void operator()(const action::WriteAttempts& step) const {
        driver.record_.write(step.noted,
                             [self = &driver] { self->feed(&SessionMachine::attempts_kept); });
    }
    void operator()(const action::TakeTurn& step) const {
        view().shared().suspects.take(&driver, view().loop(), step.alone,
                                      [weak = driver.weak_from_this()] {
                                          if (const auto self = weak.lock()) {
                                              self->feed(&SessionMachine::turn_came);
                                          }
                                      });
    }
    void operator()(const action::EndTurn&) const { view().shared().suspects.ended(&driver); }

private:
    [[nodiscard]] SessionView& view() const noexcept { return driver.view_; }
    [[nodiscard]] dispatch::Lane& lane() const noexcept { return view().lane(); }
    [[nodiscard]] Counters& counters() const noexcept { return view().workplace().meters.counters; }
    [[nodiscard]] TimePoint now() const noexcept { return view().loop().now(); }
};

bool SessionDriver::perform() {
    const bool is_outer = machine_.actions().run(Steps{*this});
    if (is_outer && machine_.in_flight() == 0) {
        machine_.actions().rest();
    }
    return is_outer;
}

void SessionDriver::settle(MessageCall& call, const Resolution& resolution) {
    view_.workplace().tally.released += resolution.outcome == ports::Outcome::release ? 1 : 0;
    if (!call.decided()) { // else its handler may still run, and then its end is not to be read
        if (resolution.outcome == ports::Outcome::dead_letter) {
            static_cast<void>(call.decide(settlement_for(resolution, call.end().failure_text())));
        } else {
            static_cast<void>(call.decide(resolution.outcome));
        }
    }
    trace_settling(call, view_);
    log_settling(view_, call.message, call.outcome());
    call.times.settled = view_.loop().now();
    link_.settle(call, call.take_settlement(), call.own_lock.get());
}

void SessionDriver::drop_link() {
    link_.drop();
    asked_.reset();
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
    owner_.lane_ready();
}

SessionSnapshot SessionDriver::snapshot(TimePoint quiet_since) const {
    SessionSnapshot snapshot{.entity = view_.entity(),
                             .session_id = view_.session_id(),
                             .status = machine_.status(),
                             .progress_at = machine_.progress_at(),
                             .unanswered_since = machine_.unanswered_since(),
                             .window = machine_.window(),
                             .in_flight = machine_.in_flight(),
                             .renewal_late = machine_.lock().is_late(view_.loop().now()),
                             .parked = machine_.phase() == SessionMachine::Phase::parked,
                             .open_failed = machine_.close_reason() == CloseReason::open_failed};
    if (snapshot.progress_at <= quiet_since) {
        const std::size_t waiting = view_.lane().waiting();
        snapshot.running =
            machine_.in_lane() - static_cast<std::uint32_t>(waiting) + (session_call_ ? 1U : 0U);
        snapshot.ready_for = machine_.ready_for(snapshot.running, view_.loop().now());
        snapshot.awaits_worker =
            machine_.needs_workers() && waiting != 0 && snapshot.running < machine_.calls();
    }
    return snapshot;
}

// The session as its handlers see it

const std::string& DrivenSession::session_id() const noexcept {
    return driver_.view().session_id();
}
const std::string& DrivenSession::entity() const noexcept { return driver_.view().entity(); }
Deadline DrivenSession::lock_expires() const noexcept { return driver_.view().lock_expires(); }
std::stop_token DrivenSession::stop_token() const noexcept { return driver_.view().stop_token(); }

void DrivenSession::release() noexcept {
    driver_.view().loop().post([weak = driver_.weak_from_this()] {
        if (const auto driver = weak.lock()) {
            driver->feed(&SessionMachine::leave, CloseReason::released);
        }
    });
}

dispatch::CoroutineHost& DrivenSession::coroutines() {
    return *driver_.view().shared().environment.coroutines;
}

} // namespace sessionq::detail::processor
