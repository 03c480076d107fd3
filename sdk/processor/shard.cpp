#include "processor/shard.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "processor/mutation.hpp"
#include "processor/slot_words.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::processor {

Shard::Shard(std::shared_ptr<SharedState> shared, ports::Endpoint& endpoint, std::uint64_t seed,
             std::size_t budget)
    : shared_{std::move(shared)},
      endpoint_{endpoint},
      random_{seed},
      credit_{budget},
      targets_{shared_->entities, shared_->options.session_ids, shared_->claims.get()},
      late_{endpoint.loop(), shared_->environment.tuning.close_timeout,
            [this] {
                loop().post([self = weak_from_this()] {
                    if (const auto shard = self.lock()) {
                        shard->sweep_late();
                    }
                });
            }},
      calls_per_session_{shared_->options.max_concurrent_calls_per_session} {}

// Slots

void Shard::start(std::uint32_t slots, std::uint32_t all_slots) {
    loop().attach(*this);
    timers().arm(watchdog_, loop().now() + shared_->environment.tuning.watchdog_interval);
    set_limits(slots, all_slots, calls_per_session_);
}

void Shard::set_limits(std::uint32_t slots, std::uint32_t all_slots,
                       std::uint32_t calls_per_session) {
    if (stopping_) {
        return;
    }
    all_slots_ = all_slots;
    active_slots_ = slots + (mutated(Mutant::accepts_beyond_limit) ? 1 : 0);
    while (slots_.size() < active_slots_) {
        slots_.emplace_back(*this, slots_.size(), options().error_backoff);
    }
    if (calls_per_session != calls_per_session_) {
        calls_per_session_ = calls_per_session;
        for (const auto& pump : pumps_) {
            pump->set_max_calls(calls_per_session);
        }
    }
    for (Slot& slot : slots_) {
        if (slot.index >= active_slots_) {
            apply(slot, slot.machine.stop());
            continue;
        }
        if (slot.machine.phase() == SlotMachine::Phase::stopped) {
            slot.machine = SlotMachine{options().error_backoff};
        }
        apply(slot, slot.machine.start());
    }
}

void Shard::apply(Slot& slot, const SlotActions& actions) {
    slot.since = loop().now();
    if (actions.report_failure) {
        Counters::add(shared_->counters.accept_failures);
    }
    if (actions.cancel_accept) {
        cancel_accept(slot);
    }
    if (actions.leave_session && slot.pump != nullptr) {
        slot.pump->leave(stopping_ ? CloseReason::stopped : CloseReason::limit_lowered);
    }
    if (actions.wait) {
        timers().arm(slot.timer, loop().now() + actions.delay);
    }
    if (actions.start_accept) {
        start_accept(slot);
    }
}

void Shard::on_slot_timer(Slot& slot) {
    if (slot.machine.phase() == SlotMachine::Phase::accepting) {
        slot.last_failure = "an accept was not answered";
        const AcceptTarget& target = targets_[slot.accept->target];
        shared_->report({.source = ErrorSource::accept,
                         .failure = {.code = Errc::timeout, .detail = slot.last_failure},
                         .entity = target.entity,
                         .session_id = target.session_id.value_or("")});
        apply(slot, slot.machine.accept_overdue(random_));
    } else {
        apply(slot, slot.machine.wait_over());
    }
}

// Accepting

void Shard::start_accept(Slot& slot) {
    const auto chosen = targets_.choose();
    if (!chosen) {
        slot.machine.starved();
        return;
    }
    const Tuning& tuning = shared_->environment.tuning;
    const bool rotates = (targets_.named() ? all_slots_ : active_slots_) < targets_.size();
    const Duration wait =
        rotates ? std::min(options().accept_wait, tuning.rotate_wait) : options().accept_wait;
    auto accept = std::make_shared<Accept>(
        Accept{.slot = slot.index, .target = *chosen, .asked_at = loop().now()});
    slot.accept = accept;
    timers().arm(slot.timer, accept->asked_at + wait + tuning.accept_grace);
    const AcceptTarget& target = targets_[*chosen];
    accept->id = endpoint_.accept(
        {.entity = target.entity,
         .session_id = target.session_id,
         .mode = options().receive_and_delete ? ports::ReceiveMode::receive_and_delete
                                              : ports::ReceiveMode::peek_lock,
         .wait = wait,
         .priority = options().priority,
         .buffer_bytes = credit_.budget_bytes()},
        [self = weak_from_this(), accept](core::Result<ports::SessionLinkPtr> answer) {
            if (const auto shard = self.lock()) { // else a late session is closed by dropping it
                shard->accept_answered(accept, std::move(answer));
            }
        });
}

void Shard::cancel_accept(Slot& slot) {
    if (const auto accept = std::exchange(slot.accept, nullptr)) {
        accept->given_up = true;
        ++orphans_;
        timers().cancel(slot.timer);
        endpoint_.give_up(accept->id);
    }
}

void Shard::accept_answered(const std::shared_ptr<Accept>& accept,
                            core::Result<ports::SessionLinkPtr> answer) {
    if (accept->given_up || !answer.ok()) {
        targets_.refused(accept->target);
    }
    if (accept->given_up) {
        --orphans_;
        if (answer.ok()) {
            release_late(std::move(answer).value());
        }
        start_starved();
        finish_stop_if_done();
        return;
    }
    Slot& slot = slots_[accept->slot];
    slot.accept.reset();
    timers().cancel(slot.timer);
    if (answer.ok()) {
        slot.last_failure.clear();
        slot.since = loop().now();
        if (slot.machine.accepted().open_session) {
            open_session(slot, *accept, std::move(answer).value());
        }
        return;
    }
    const Failure& failure = answer.failure();
    if (failure.code == Errc::no_session_available) {
        Counters::add(shared_->counters.empty_accepts);
    }
    const SlotActions actions =
        slot.machine.accept_failed(failure.code, loop().now() - accept->asked_at, random_);
    if (actions.report_failure) {
        slot.last_failure = failure.to_string();
        const AcceptTarget& target = targets_[accept->target];
        shared_->report({.source = ErrorSource::accept,
                         .failure = failure,
                         .entity = target.entity,
                         .session_id = target.session_id.value_or("")});
    }
    apply(slot, actions);
}

void Shard::open_session(Slot& slot, const Accept& accept, ports::SessionLinkPtr link) {
    targets_.held(accept.target);
    auto pump = std::make_shared<SessionPump>(*this, slot.index, accept.target, std::move(link),
                                              accept.asked_at);
    slot.pump = pump.get();
    pump->place = pumps_.insert(pumps_.end(), pump);
    pump->open();
}

void Shard::release_late(ports::SessionLinkPtr link) {
    Counters::add(shared_->counters.late_accepts);
    if (mutated(Mutant::loses_late_accept)) {
        static_cast<void>(link.release());
        return;
    }
    late_.give_back(std::move(link));
}

void Shard::sweep_late() {
    late_.sweep();
    finish_stop_if_done();
}

// Sessions

void Shard::session_left(SessionPump& pump, CloseReason reason,
                         std::optional<Duration> fruitless_for) {
    targets_.left(pump.target());
    Slot& slot = slots_[pump.slot()];
    slot.pump = nullptr;
    SlotActions actions =
        slot.machine.session_left(reason, fruitless_for, loop().now() - slot.since, random_);
    if (slot.machine.phase() == SlotMachine::Phase::stopped && slot.index < active_slots_ &&
        !stopping_) {
        slot.machine = SlotMachine{options().error_backoff}; // the limit was raised again meanwhile
        actions =
            slot.machine.session_left(reason, fruitless_for, loop().now() - slot.since, random_);
    }
    apply(slot, actions);
    start_starved();
}

void Shard::start_starved() {
    if (!targets_.named() || stopping_) {
        return;
    }
    for (Slot& slot : slots_) {
        if (slot.index < active_slots_ && slot.machine.phase() == SlotMachine::Phase::vacant) {
            apply(slot, slot.machine.start());
        }
    }
}

void Shard::pump_finished(SessionPump& pump) {
    std::shared_ptr<SessionPump> ended = std::move(*pump.place);
    pumps_.erase(pump.place);
    loop().post([ended = std::move(ended)] {}); // it is in the middle of telling
    finish_stop_if_done();
}

void Shard::touched() {
    if (!mutated(Mutant::forgets_lane) && !std::exchange(flush_posted_, true)) {
        loop().post([self = weak_from_this()] {
            if (const auto shard = self.lock()) {
                shard->flush_posted_ = false;
                shard->shared_->environment.dispatcher->flush();
            }
        });
    }
}

void Shard::drain() noexcept {
    PumpCall* call = notices_.take_all();
    while (call != nullptr) {
        PumpCall& each = *call;
        call = core::MpscQueue<PumpCall>::next(each);
        each.noticed();
    }
}

// Watching

void Shard::on_watchdog() {
    const TimePoint now = loop().now();
    const Tuning& tuning = shared_->environment.tuning;
    degraded_.clear();
    for (Slot& slot : slots_) {
        if (slot.machine.failures() >= 3) {
            degraded_.push_back("slot " + std::to_string(slot.index) + ": " +
                                std::to_string(slot.machine.failures()) +
                                " failures in a row: " + slot.last_failure);
        }
        const SlotDescription described = describe(slot, now);
        if (described.waits_for.empty() &&
            slot.index < active_slots_) { // R16: must not happen; say so and go on
            degraded_.push_back("slot " + std::to_string(slot.index) + " waited for nothing");
            core::log(LogLevel::error, "processor", degraded_.back());
        }
    }
    for (const auto& pump : pumps_) {
        if (pump->running() != 0 && pump->describe(now).since >= tuning.slow_handler) {
            degraded_.push_back("no handler of session '" + pump->session_id() +
                                "' has finished for " +
                                std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
                                                   pump->describe(now).since)
                                                   .count()) +
                                " s");
        }
    }
    sweep_late();
    timers().arm(watchdog_, now + tuning.watchdog_interval);
}

SlotDescription Shard::describe(const Slot& slot, TimePoint now) const {
    if (slot.pump != nullptr) {
        return slot.pump->describe(now);
    }
    const SlotWords words = words_for({.phase = slot.machine.phase(),
                                       .names_sessions = targets_.named(),
                                       .has_accept = slot.accept != nullptr,
                                       .has_timer = slot.timer.is_armed()});
    return {.entity = slot.accept != nullptr ? targets_[slot.accept->target].entity : std::string{},
            .state = std::string{words.state},
            .waits_for = std::string{words.waits_for},
            .since = now - slot.since};
}

void Shard::describe(ProcessorDescription& into) const {
    const TimePoint now = loop().now();
    for (const Slot& slot : slots_) {
        if (slot.index < active_slots_ || slot.pump != nullptr) {
            into.slots.push_back(describe(slot, now));
        }
    }
    into.buffered_bytes += credit_.buffered_bytes();
    into.degraded.insert(into.degraded.end(), degraded_.begin(), degraded_.end());
}

// Stopping

void Shard::stop(Deadline deadline, Stopped stopped) {
    const auto keep = shared_from_this();
    stopping_ = true;
    retain_ = keep;
    report_.sessions = static_cast<std::uint64_t>(std::count_if(
        slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.pump != nullptr; }));
    arm_stop(deadline);
    for (Slot& slot : slots_) {
        apply(slot, slot.machine.stop());
        timers().cancel(slot.timer);
    }
    stop_step_ = StopStep::waiting;
    stopped_ = std::move(stopped);
    finish_stop_if_done();
}

void Shard::shorten_stop(Deadline deadline) {
    const bool is_earlier = !stop_timer_.is_armed() || deadline.time() < stop_timer_.due();
    if (stop_step_ == StopStep::waiting && is_earlier && !mutated(Mutant::ignores_shorter_stop)) {
        arm_stop(deadline);
    }
}

void Shard::arm_stop(Deadline deadline) {
    if (!deadline.is_never() && !mutated(Mutant::stop_ignores_deadline)) {
        const Duration grace =
            std::min<Duration>(deadline.remaining(loop().now()) / 10, std::chrono::seconds{1});
        timers().arm(stop_timer_, deadline.time());
        timers().arm(stop_warning_, deadline.time() - grace);
    }
}

void Shard::on_stop_warning() {
    for (const auto& pump : pumps_) {
        pump->fire_stop();
    }
}

void Shard::on_stop_deadline() {
    const auto keep = shared_from_this();
    stop_step_ = StopStep::none; // what ends now does not make it complete
    drain();                     // a handler that has told its end is not left
    const auto left = pumps_;    // giving up may end a pump
    for (const auto& pump : left) {
        pump->abandon_running();
        report_.left +=
            pump->machine().phase() == SessionMachine::Phase::finished ? 0 : pump->running();
    }
    late_.clear();
    finish_stop();
}

void Shard::finish_stop_if_done() {
    if (stop_step_ == StopStep::waiting && pumps_.empty() && orphans_ == 0 && late_.empty()) {
        report_.complete = true;
        finish_stop();
    } else if (stop_step_ == StopStep::told &&
               pumps_.empty()) { // the last handler left behind has returned
        let_go();
    }
}

void Shard::finish_stop() {
    stop_step_ = StopStep::told;
    for (timing::Timer* timer : {&watchdog_, &stop_warning_, &stop_timer_}) {
        timers().cancel(*timer);
    }
    loop().post([stopped = std::exchange(stopped_, nullptr), report = report_] {
        stopped(report);
    }); // after the links that were let go before
    if (pumps_.empty()) {
        let_go();
    }
}

void Shard::let_go() {
    loop().detach(*this);
    loop().post([keep = std::move(retain_)] {}); // it is in the middle of something
}

} // namespace sessionq::processor
