// SPDX-License-Identifier: MIT
#include "processor/slots/slot_table.hpp"

#include <algorithm>
#include <utility>

#include "processor/slots/ready_sessions.hpp"

namespace sessionq::detail::processor {

SlotTable::SlotTable(SlotOwner& owner, Workplace& workplace)
    : owner_{owner},
      workplace_{workplace},
      accepts_{*this, workplace},
      calls_per_session_{workplace.options().max_concurrent_calls_per_session},
      fair_{!workplace.options().max_hold && workplace.shared->scope == ports::Scope::session} {}

void SlotTable::set_limits(std::uint32_t slots, std::uint32_t all_slots,
                           std::uint32_t calls_per_session) {
    accepts_.set_slots(slots, all_slots);
    all_slots_ = all_slots;
    calls_per_session_ = calls_per_session;
    demand_.limit(slots);
    while (slots_.size() < demand_.slots()) {
        slots_.emplace_back(*this, slots_.size());
    }
    follow_demand();
}

void SlotTable::pause() {
    demand_.pause();
    follow_demand();
}

void SlotTable::resume() {
    demand_.resume();
    follow_demand();
}

void SlotTable::stop() {
    demand_.stop();
    follow_demand();
}

void SlotTable::follow_demand() {
    for (Slot& slot : slots_) {
        apply(slot, slot.machine.follow(demand_.unwanted(slot.index)));
    }
    accepts_.need_at_once(free_count_);
    if (demand_.unwanted(0)) { // paused or stopped: no timer may be left on the loop
        fair_.rest();
    } else {
        fair_.look_soon(now());
    }
    workplace_.loop().timers().set_due(fair_timer_, fair_.next());
}

/// Leaves sessions whose slots other sessions wait for (R14).
void SlotTable::share() {
    const bool shares = !demand_.unwanted(0) && !accepts_.targets().has_slots_for_all();
    std::vector<Slot*> holding;
    for (Slot& slot : slots_) {
        if (!shares || slot.session == nullptr) {
            continue;
        }
        if (slot.session->machine().has_begun()) {
            holding.push_back(&slot);
        }
    }
    std::ranges::sort(holding, {}, [](const Slot* slot) {
        return std::pair{!slot->session->machine().is_leaving(), slot->since};
    });
    const std::optional<ports::ReadySessions> ready =
        ready_sessions(accepts_.targets(), workplace_.endpoint);
    fair_.look({.here = shares ? demand_.slots() : 0,
                .all = all_slots_,
                .free = free_count_,
                .held = held(),
                .ready = ready ? std::optional{ready->count} : std::nullopt},
               now());
    for (Slot* const slot : holding) {
        SessionDriver& session = *slot->session;
        if (fair_.leaves(session.view().session_id(), session.machine().phase(), slot->since,
                         now())) {
            session.feed(&SessionMachine::leave, CloseReason::max_hold);
        }
    }
    workplace_.loop().timers().set_due(fair_timer_, fair_.next());
}

/// Performs the steps of a slot. Also adds the slot to the free slots or removes it, by its phase.
void SlotTable::apply(Slot& slot, const SlotActions& actions) {
    const bool is_free = slot.machine.phase() == SlotMachine::Phase::free;
    if (is_free != slot.is_linked()) {
        slot.since = now();
        if (is_free) {
            free_.push_back(slot);
            ++free_count_;
        } else {
            slot.unlink();
            --free_count_;
        }
    }
    if (actions.wait) {
        slot.since = now();
        workplace_.loop().timers().arm(slot.timer, slot.since + actions.delay);
    } else if (slot.machine.phase() == SlotMachine::Phase::stopped) {
        workplace_.loop().timers().cancel(slot.timer);
    }
    if (actions.leave_session) {
        slot.session->feed(&SessionMachine::leave, actions.reason);
    }
}

void SlotTable::due(Slot& slot) {
    slot.machine.due();
    apply(slot, {});
    accepts_.need(free_count_);
}

void SlotTable::granted(std::size_t target, TimePoint asked_at, ports::SessionLinkPtr link) {
    Slot& slot = *free_.front();
    slot.machine.accepted();
    apply(slot, {});
    slot.session = &owner_.add_session({.slot = slot.index,
                                        .target = target,
                                        .asked_at = asked_at,
                                        .granted_at = now(),
                                        .left_at = slot.left_at},
                                       std::move(link));
    slot.session->open();
    accepts_.need(free_count_);
    fair_.granted(slot.session->view().session_id(), asked_at, free_count_ == 0, now());
    workplace_.loop().timers().set_due(fair_timer_, fair_.next());
}

void SlotTable::session_left(const SessionGrant& grant, CloseReason reason, bool had_messages) {
    Slot& slot = slots_[grant.slot];
    slot.session = nullptr;
    slot.left_at = now();
    apply(slot, slot.machine.session_left(
                    reason, had_messages ? std::nullopt : std::optional{now() - grant.asked_at},
                    now() - slot.since));
    accepts_.need(free_count_);
}

// Watching

SlotWaits SlotTable::waits() const {
    return {.named_sessions = accepts_.targets().named(),
            .accept = accepts_.pending() != 0,
            .pause = accepts_.is_pausing()};
}

SlotDescription SlotTable::describe(const Slot& slot, SlotWaits waits) const {
    if (slot.session != nullptr) {
        return processor::describe(slot.session->snapshot(TimePoint::max()), now());
    }
    const SlotStatus status = slot.status(waits);
    return {.entity = accepts_.targets().only_entity(),
            .state = std::string{status.state},
            .waits_for = std::string{status.waits_for},
            .since = now() - slot.since};
}

void SlotTable::describe(ProcessorDescription& into) const {
    into.session_hold =
        std::max(into.session_hold, workplace_.options().max_hold.value_or(fair_.hold()));
    into.ready_bound = std::max(into.ready_bound, fair_.bound());
    SlotWaits waits = this->waits();
    std::uint32_t asking = 0;
    for (const Slot& slot : slots_) {
        // Any slot takes a session that an entity grants. A named session goes to one slot.
        waits.accept = waits.named_sessions ? asking < accepts_.pending() : waits.accept;
        asking += slot.is_linked() ? 1 : 0;
        if (slot.index < demand_.slots() || slot.session != nullptr) {
            into.slots.push_back(describe(slot, waits));
        }
    }
}

bool SlotTable::show(HealthMachine& health) {
    const bool is_wanted = !demand_.unwanted(0);
    if (is_wanted) {
        accepts_.show(health);
    }
    const SlotWaits waits = this->waits();
    for (const Slot& slot : slots_) {
        const bool rests = slot.machine.phase() == SlotMachine::Phase::backing_off ||
                           slot.machine.phase() == SlotMachine::Phase::stopped;
        SlotSnapshot snapshot{.index = slot.index,
                              .failures = slot.machine.failures(),
                              .since = slot.since,
                              .rests = rests};
        if (slot.session == nullptr && slot.index < demand_.slots()) {
            snapshot.status = slot.status(waits);
        }
        health.slot(snapshot);
    }
    return is_wanted;
}

std::size_t SlotTable::held() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.session != nullptr; }));
}

} // namespace sessionq::detail::processor
