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
      calls_per_session_{workplace.options().max_concurrent_calls_per_session} {}

void SlotTable::set_limits(std::uint32_t slots, std::uint32_t all_slots,
                           std::uint32_t calls_per_session) {
    targets_.set_slots(slots, all_slots);
    active_slots_ = slots;
    calls_per_session_ = calls_per_session;
    while (slots_.size() < active_slots_) {
        slots_.emplace_back(*this, slots_.size());
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

void SlotTable::start_vacant() {
    if (!targets_.named()) { // else a slot always finds something to ask for
        return;
    }
    for (Slot& slot : slots_) {
        if (slot.machine.phase() == SlotMachine::Phase::vacant) {
            apply(slot, slot.machine.start());
        }
    }
}

void SlotTable::apply(Slot& slot, const SlotActions& actions, const Failure& failure) {
    slot.since = now();
    if (actions.report_failure) {
        Counters::add(workplace_.shared->counters.accept_failures);
        report(slot, failure);
    }
    if (actions.cancel_accept) {
        workplace_.endpoint.give_up(slot.accept->id);
        end_accept(slot);
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

void SlotTable::due(Slot& slot) {
    apply(slot, slot.machine.due(),
          {.code = Errc::timeout, .detail = "an accept was not answered"});
}

void SlotTable::start_accept(Slot& slot) {
    const auto chosen = targets_.choose();
    if (!chosen) {
        slot.machine.no_target();
        return;
    }
    const ProcessorOptions& options = workplace_.options();
    const Tuning& tuning = workplace_.shared->environment.tuning;
    const Duration wait = targets_.wait(options.accept_wait, tuning.rotate_wait);
    const auto accept =
        accepts_.insert(accepts_.end(), {.slot = slot.index, .target = *chosen, .asked_at = now()});
    slot.accept = &*accept;
    slot.target = *chosen;
    workplace_.loop().timers().arm(slot.timer, now() + wait + tuning.accept_grace);
    accept->id = workplace_.endpoint.accept(
        {.entity = targets_[*chosen].entity,
         .session_id = targets_[*chosen].session_id,
         .mode = options.receive_and_delete ? ports::ReceiveMode::receive_and_delete
                                            : ports::ReceiveMode::peek_lock,
         .wait = wait,
         .priority = options.priority,
         .buffer_bytes = workplace_.budget.budget_bytes()},
        [this, weak = shard_.weak_from_this(), accept](core::Result<ports::SessionLinkPtr> answer) {
            if (const auto shard = weak.lock()) { // else dropping the link gives the session back
                answered(accept, std::move(answer));
            }
        });
}

void SlotTable::end_accept(Slot& slot) {
    slot.accept = nullptr;
    workplace_.loop().timers().cancel(slot.timer);
}

void SlotTable::answered(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer) {
    Slot& slot = slots_[accept->slot];
    if (slot.accept != &*accept) {
        give_back(accept, std::move(answer));
        return;
    }
    const TimePoint asked_at = accept->asked_at;
    accepts_.erase(accept);
    end_accept(slot);
    if (answer.ok()) {
        targets_.held(slot.target);
        slot.last_failure.clear();
        apply(slot, slot.machine.accepted());
        slot.session =
            &shard_.open_session({.slot = slot.index, .target = slot.target, .asked_at = asked_at},
                                 std::move(answer).value());
        slot.session->open();
        return;
    }
    targets_.refused(slot.target);
    const Failure& failure = answer.failure();
    if (failure.code == Errc::no_session_available) {
        Counters::add(workplace_.shared->counters.empty_accepts);
    }
    apply(slot, slot.machine.accept_failed(failure.code, now() - asked_at), failure);
}

/// The answer to an accept that was given up (R19). A session is closed in order.
void SlotTable::give_back(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer) {
    const auto end = [this, accept](const auto&) {
        core::EventLoop& loop = workplace_.loop();
        accepts_.erase(accept); // and this with it
        loop.wake();
    };
    targets_.refused(accept->target);
    if (answer.ok()) {
        Counters::add(workplace_.shared->counters.late_accepts);
        accept->late_until = now() + workplace_.shared->environment.tuning.close_timeout;
        accept->late = std::move(answer).value();
        accept->late->close(end);
    } else {
        end(answer);
    }
    start_vacant();
}

void SlotTable::drop_late(TimePoint now) {
    accepts_.remove_if(
        [now](const Accept& each) { return each.late != nullptr && now >= each.late_until; });
}

void SlotTable::session_left(const SessionSeat& seat, CloseReason reason, bool had_messages) {
    targets_.left(seat.target);
    Slot& slot = slots_[seat.slot];
    slot.session = nullptr;
    apply(slot, slot.machine.session_left(
                    reason, had_messages ? std::nullopt : std::optional{now() - seat.asked_at},
                    now() - slot.since));
    start_vacant();
}

void SlotTable::report(Slot& slot, const Failure& failure) {
    slot.last_failure = failure.to_string();
    workplace_.shared->report({.source = ErrorSource::accept,
                               .failure = failure,
                               .entity = targets_[slot.target].entity,
                               .session_id = targets_[slot.target].session_id.value_or("")});
}

// Watching

SlotDescription SlotTable::describe(const Slot& slot) const {
    if (slot.session != nullptr) {
        return slot.session->describe(now());
    }
    const SlotWords words = slot.machine.words({.named_sessions = targets_.named(),
                                                .accept = slot.accept != nullptr,
                                                .timer = slot.timer.is_armed()});
    return {.entity = slot.accept != nullptr ? targets_[slot.target].entity : std::string{},
            .state = std::string{words.state},
            .waits_for = std::string{words.waits_for},
            .since = now() - slot.since};
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

std::size_t SlotTable::held() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.session != nullptr; }));
}

} // namespace sessionq::processor
