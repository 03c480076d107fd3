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

namespace sessionq::detail::processor {

/// Owns a slot table, and holds the sessions with and without a slot. The shard implements it. On
/// the loop.
class SlotOwner {
public:
    /// Credit that goes out with the next accept.
    [[nodiscard]] virtual ports::FirstCredit first_credit() = 0;
    /// A session has got a slot. It is opened next.
    [[nodiscard]] virtual SessionDriver& add_session(const SessionGrant& grant,
                                                     ports::SessionLinkPtr link) = 0;

protected:
    ~SlotOwner() = default;
};

/// Owns the slots of a shard and gives them sessions. A slot rolls, backs off and stops as its
/// `SlotMachine` decides. On the loop.
class SlotTable final : AcceptOwner {
public:
    SlotTable(SlotOwner& owner, Workplace& workplace);

    /// `slots` of the processor's `all_slots` are here.
    void set_limits(std::uint32_t slots, std::uint32_t all_slots, std::uint32_t calls_per_session);
    /// No slot is wanted until `resume`. Limits that are set meanwhile count from then on.
    void pause();
    void resume();
    /// No slot is wanted any more.
    void stop();
    /// A named session became free on another thread.
    void look_again() { accepts_.need(free_count_); }
    /// The slot may take the next session.
    void session_left(const SessionGrant& grant, CloseReason reason, bool had_messages);
    /// The session of the target is no longer ours. Its claim is released.
    void let_go(std::size_t target) { accepts_.let_go(target); }
    /// The broker answered the close of a session after `taken`.
    void closed_in(Duration taken) { accepts_.closed_in(taken); }
    /// Drops late sessions, see `AcceptTable::drop_late`.
    void drop_late(TimePoint now) { accepts_.drop_late(now); }

    void describe(ProcessorDescription& into) const;
    /// Shows the slots to `health`. Returns false if no slot is wanted.
    bool show(HealthMachine& health);

    [[nodiscard]] const TargetBook& targets() const noexcept { return accepts_.targets(); }
    /// Whether an accept is unanswered, or a late session is not given back yet.
    [[nodiscard]] bool has_accepts() const noexcept { return accepts_.has_accepts(); }
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
        /// The status of the slot while it has no session.
        [[nodiscard]] SlotStatus status(SlotWaits waits) const noexcept {
            waits.timer = timer.is_armed();
            return machine.status(waits);
        }

        SlotTable* table;
        std::size_t index;
        SlotMachine machine;
        TimePoint since;
        timing::Timer timer{timing::Timer::calling<&Slot::on_timer>(this)};
        SessionDriver* session{nullptr};
        TimePoint left_at{}; ///< when the slot left its last session
    };

    [[nodiscard]] ports::FirstCredit first_credit() override { return owner_.first_credit(); }
    void granted(std::size_t target, TimePoint asked_at, ports::SessionLinkPtr link) override;
    void follow_demand();
    void apply(Slot& slot, const SlotActions& actions);
    void due(Slot& slot);
    void share();
    [[nodiscard]] SlotDescription describe(const Slot& slot, SlotWaits waits) const;
    [[nodiscard]] SlotWaits waits() const;
    [[nodiscard]] TimePoint now() const noexcept { return workplace_.loop().now(); }

    SlotOwner& owner_;
    Workplace& workplace_;
    AcceptTable accepts_;
    std::deque<Slot> slots_{};
    core::IntrusiveList<Slot> free_{}; ///< longest free first
    std::uint32_t free_count_{0};
    SlotDemand demand_{};
    std::uint32_t calls_per_session_;
    std::uint32_t all_slots_{0}; ///< the slots of the processor
    FairnessMachine fair_;
    timing::Timer fair_timer_{timing::Timer::calling<&SlotTable::share>(this)};
};

} // namespace sessionq::detail::processor
