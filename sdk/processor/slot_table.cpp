#include "processor/slot_table.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "processor/shard.hpp"

namespace sessionq::processor {

SlotTable::SlotTable(Shard& shard, Workplace& workplace)
    : shard_{shard},
      workplace_{workplace},
      targets_{workplace.shared->entities, workplace.options().session_ids,
               workplace.shared->claims.get()},
      late_{workplace.loop(), workplace.shared->environment.tuning.close_timeout},
      calls_per_session_{workplace.options().max_concurrent_calls_per_session} {}

void SlotTable::set_limits(std::uint32_t slots, std::uint32_t all_slots,
                           std::uint32_t calls_per_session) {
    all_slots_ = all_slots;
    active_slots_ = slots;
    calls_per_session_ = calls_per_session;
    while (slots_.size() < active_slots_) {
        slots_.emplace_back(*this, slots_.size(), workplace_.options().error_backoff,
                            workplace_.loop().now());
    }
    for (Slot& slot : slots_) {
        apply(slot, slot.index < active_slots_ ? slot.machine.start()
                                               : slot.machine.stop(CloseReason::limit_lowered));
    }
}

void SlotTable::stop() {
    for (Slot& slot : slots_) {
        apply(slot, slot.machine.stop(CloseReason::stopped));
    }
}

void SlotTable::start_starved() {
    if (!targets_.named()) { // else a slot always finds something to ask for
        return;
    }
    for (Slot& slot : slots_) {
        if (slot.machine.phase() == SlotMachine::Phase::vacant) {
            apply(slot, slot.machine.start());
        }
    }
}

void SlotTable::apply(Slot& slot, const SlotActions& actions) {
    slot.since = workplace_.loop().now();
    if (actions.report_failure) {
        Counters::add(workplace_.shared->counters.accept_failures);
    }
    if (actions.cancel_accept) {
        give_up_accept(slot);
    }
    if (actions.leave_session) {
        slot.session->feed(&SessionMachine::leave, actions.reason);
    }
    if (actions.wait) {
        workplace_.loop().timers().arm(slot.timer, slot.since + actions.delay);
    } else if (slot.machine.phase() == SlotMachine::Phase::stopped) {
        workplace_.loop().timers().cancel(slot.timer);
    }
    if (actions.start_accept) {
        start_accept(slot);
    }
}

SlotActions SlotTable::due(Slot& slot) {
    const SlotActions actions = slot.machine.due(workplace_.random);
    if (actions.report_failure) {
        const auto accept =
            std::find_if(accepts_.begin(), accepts_.end(),
                         [&slot](const Accept& each) { return each.number == slot.accept; });
        report(slot, accept->target,
               {.code = Errc::timeout, .detail = "an accept was not answered"});
    }
    return actions;
}

void SlotTable::start_accept(Slot& slot) {
    const auto chosen = targets_.choose();
    if (!chosen) {
        slot.machine.starved();
        return;
    }
    const ProcessorOptions& options = workplace_.options();
    const Tuning& tuning = workplace_.shared->environment.tuning;
    const bool rotates = (targets_.named() ? all_slots_ : active_slots_) < targets_.size();
    const Duration wait =
        rotates ? std::min(options.accept_wait, tuning.rotate_wait) : options.accept_wait;
    const TimePoint now = workplace_.loop().now();
    const TimePoint overdue = now + wait + tuning.accept_grace;
    slot.accept = ++last_accept_;
    accepts_.push_back(
        {.number = last_accept_, .slot = slot.index, .target = *chosen, .asked_at = now});
    workplace_.loop().timers().arm(slot.timer, overdue);
    accepts_.back().id = workplace_.endpoint.accept(
        {.entity = target(*chosen).entity,
         .session_id = target(*chosen).session_id,
         .mode = options.receive_and_delete ? ports::ReceiveMode::receive_and_delete
                                            : ports::ReceiveMode::peek_lock,
         .wait = wait,
         .priority = options.priority,
         .buffer_bytes = workplace_.budget.budget_bytes()},
        [weak = shard_.weak_from_this(),
         number = last_accept_](core::Result<ports::SessionLinkPtr> answer) {
            if (const auto shard = weak.lock()) { // else dropping the link gives the session back
                shard->slots().answered(number, std::move(answer));
            }
        });
}

void SlotTable::give_up_accept(Slot& slot) {
    const auto accept = std::find_if(accepts_.begin(), accepts_.end(), [&slot](const Accept& each) {
        return each.number == slot.accept;
    });
    slot.accept.reset();
    workplace_.loop().timers().cancel(slot.timer);
    workplace_.endpoint.give_up(accept->id);
}

void SlotTable::answered(std::uint64_t number, core::Result<ports::SessionLinkPtr> answer) {
    const auto at = std::find_if(accepts_.begin(), accepts_.end(),
                                 [number](const Accept& each) { return each.number == number; });
    const Accept accept = *at;
    accepts_.erase(at);
    Slot& slot = slots_[accept.slot];
    if (slot.accept != number) {
        targets_.refused(accept.target);
        late(std::move(answer));
        return;
    }
    slot.accept.reset();
    workplace_.loop().timers().cancel(slot.timer);
    if (answer.ok()) {
        targets_.held(accept.target);
        slot.last_failure.clear();
        apply(slot, slot.machine.accepted());
        slot.session = &shard_.open_session(
            {.slot = accept.slot, .target = accept.target, .asked_at = accept.asked_at},
            std::move(answer).value());
        slot.session->open();
        return;
    }
    targets_.refused(accept.target);
    const Failure& failure = answer.failure();
    if (failure.code == Errc::no_session_available) {
        Counters::add(workplace_.shared->counters.empty_accepts);
    }
    const SlotActions actions = slot.machine.accept_failed(
        failure.code, workplace_.loop().now() - accept.asked_at, workplace_.random);
    if (actions.report_failure) {
        report(slot, accept.target, failure);
    }
    apply(slot, actions);
}

/// The answer to an accept that was given up (R19).
void SlotTable::late(core::Result<ports::SessionLinkPtr> answer) {
    if (answer.ok()) {
        Counters::add(workplace_.shared->counters.late_accepts);
        late_.give_back(std::move(answer).value());
    }
    start_starved();
    workplace_.loop().wake();
}

void SlotTable::sweep(bool all) {
    if (all) {
        late_.clear();
    } else {
        late_.sweep();
    }
}

void SlotTable::session_left(const SessionSeat& seat, CloseReason reason, bool had_messages) {
    targets_.left(seat.target);
    Slot& slot = slots_[seat.slot];
    slot.session = nullptr;
    const TimePoint now = workplace_.loop().now();
    apply(slot, slot.machine.session_left(
                    reason, had_messages ? std::nullopt : std::optional{now - seat.asked_at},
                    now - slot.since, workplace_.random));
    start_starved();
}

void SlotTable::report(Slot& slot, std::size_t target, Failure failure) {
    slot.last_failure = failure.to_string();
    workplace_.shared->report({.source = ErrorSource::accept,
                               .failure = std::move(failure),
                               .entity = targets_[target].entity,
                               .session_id = targets_[target].session_id.value_or("")});
}

// Watching

SlotDescription SlotTable::describe(const Slot& slot) const {
    const TimePoint now = workplace_.loop().now();
    if (slot.session != nullptr) {
        return slot.session->describe(now);
    }
    const auto accept = std::find_if(accepts_.begin(), accepts_.end(), [&slot](const Accept& each) {
        return each.number == slot.accept;
    });
    const SlotWords words = slot.machine.words({.named_sessions = targets_.named(),
                                                .accept = accept != accepts_.end(),
                                                .timer = slot.timer.is_armed()});
    return {.entity = accept != accepts_.end() ? target(accept->target).entity : std::string{},
            .state = std::string{words.state},
            .waits_for = std::string{words.waits_for},
            .since = now - slot.since};
}

void SlotTable::describe(ProcessorDescription& into) const {
    for (const Slot& slot : slots_) {
        if (slot.index < active_slots_ || slot.session != nullptr) {
            into.slots.push_back(describe(slot));
        }
    }
}

void SlotTable::examine(std::vector<std::string>& degraded) const {
    for (const Slot& slot : slots_) {
        const std::string name = "slot " + std::to_string(slot.index);
        if (slot.machine.failures() >= failures_to_tell) {
            degraded.push_back(name + ": " + std::to_string(slot.machine.failures()) +
                               " failures in a row: " + slot.last_failure);
        }
        if (slot.index < active_slots_ && describe(slot).waits_for.empty()) {
            degraded.push_back(name + " waited for nothing"); // R16: a defect of ours
            core::log(LogLevel::error, "processor", degraded.back());
        }
    }
}

bool SlotTable::has_orphans() const noexcept { return !accepts_.empty() || !late_.empty(); }

std::size_t SlotTable::held() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.session != nullptr; }));
}

} // namespace sessionq::processor
