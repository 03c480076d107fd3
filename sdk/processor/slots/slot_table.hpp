// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <sessionq/processor_report.hpp>

#include "core/intrusive_list.hpp"
#include "processor/session/session_driver.hpp"
#include "processor/slots/accept_table.hpp"
#include "processor/slots/fairness_machine.hpp"
#include "processor/slots/slot_demand.hpp"
#include "processor/slots/slot_machine.hpp"
#include "processor/workplace.hpp"

namespace sessionq::processor {

/// Performs what the slot machines of a shard decide: rolls, backing off, stopping. On the loop.
class SlotTable {
public:
    SlotTable(Shard& shard, Workplace& workplace);

    /// `slots` of the processor's `all_slots` are here.
    void set_limits(std::uint32_t slots, std::uint32_t all_slots, std::uint32_t calls_per_session);
    /// No slot is wanted until `resume`. Limits that are set meanwhile count from then on.
    void pause();
    void resume();
    /// For good.
    void stop();
    /// A named session became free on another thread.
    void look_again() { accepts_.need(free_count_); }
    /// A slot is free for the session.
    void granted(std::size_t target, TimePoint asked_at, ports::SessionLinkPtr link);
    /// The slot may take the next session.
    void session_left(const SessionSeat& seat, CloseReason reason, bool had_messages);

    void describe(ProcessorDescription& into) const;
    /// False: no slot is wanted.
    bool show(HealthMachine& health);

    [[nodiscard]] AcceptTable& accepts() noexcept { return accepts_; }
    [[nodiscard]] std::uint32_t calls_per_session() const noexcept { return calls_per_session_; }
    [[nodiscard]] std::uint32_t active() const noexcept { return demand_.slots(); }
    [[nodiscard]] std::size_t held() const noexcept;

private:
    struct Slot : core::ListHook<> {
        Slot(SlotTable& owner, std::size_t number)
            : table{&owner},
              index{number},
              machine{owner.workplace_.options().error_backoff, owner.workplace_.random},
              since{owner.now()} {}
        void on_timer() { table->due(*this); }
        /// Without a session.
        [[nodiscard]] SlotWords words(SlotWaits waits) const noexcept {
            waits.timer = timer.is_armed();
            return machine.words(waits);
        }

        SlotTable* table;
        std::size_t index;
        SlotMachine machine;
        TimePoint since;
        timing::Timer timer{timing::Timer::calling<&Slot::on_timer>(this)};
        SessionDriver* session{nullptr};
        TimePoint left_at{}; ///< the session before
    };

    void follow_demand();
    void apply(Slot& slot, const SlotActions& actions);
    void due(Slot& slot);
    void share();
    [[nodiscard]] SlotDescription describe(const Slot& slot, SlotWaits waits) const;
    [[nodiscard]] SlotWaits waits() const;
    [[nodiscard]] TimePoint now() const noexcept { return workplace_.loop().now(); }

    Shard& shard_;
    Workplace& workplace_;
    AcceptTable accepts_;
    std::deque<Slot> slots_{};
    core::IntrusiveList<Slot> free_{}; ///< longest free first
    std::uint32_t free_count_{0};
    SlotDemand demand_{};
    std::uint32_t calls_per_session_;
    std::uint32_t all_slots_{0}; ///< of the processor
    FairnessMachine fair_;
    timing::Timer fair_timer_{timing::Timer::calling<&SlotTable::share>(this)};
};

} // namespace sessionq::processor
