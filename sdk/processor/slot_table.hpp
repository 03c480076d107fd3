#pragma once

#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/processor_report.hpp>

#include "ports/endpoint.hpp"
#include "processor/accept_targets.hpp"
#include "processor/late_sessions.hpp"
#include "processor/session_driver.hpp"
#include "processor/slot_machine.hpp"
#include "processor/workplace.hpp"

namespace sessionq::processor {

/// Performs what the slot machines of a shard decide: accepts, rolls, backing off. On the loop.
class SlotTable {
public:
    SlotTable(Shard& shard, Workplace& workplace);

    /// `slots` of the processor's `all_slots` are here.
    void set_limits(std::uint32_t slots, std::uint32_t all_slots, std::uint32_t calls_per_session);
    /// For good.
    void stop();
    /// Named sessions: one that became free may be what a vacant slot waits for.
    void start_starved();
    /// The slot may accept the next session.
    void session_left(const SessionSeat& seat, CloseReason reason, bool had_messages);
    /// Forgets late sessions that were given back; with `all`, every one.
    void sweep(bool all = false);

    void describe(ProcessorDescription& into) const;
    /// What is wrong, for the watchdog.
    void examine(std::vector<std::string>& degraded) const;

    [[nodiscard]] const AcceptTarget& target(std::size_t index) const noexcept {
        return targets_[index];
    }
    [[nodiscard]] std::uint32_t calls_per_session() const noexcept { return calls_per_session_; }
    [[nodiscard]] bool keeps_idle_sessions() const noexcept {
        return targets_.named() && targets_.size() <= all_slots_;
    }
    /// Accepts given up and not answered, or sessions that came late.
    [[nodiscard]] bool has_orphans() const noexcept;
    [[nodiscard]] std::size_t held() const noexcept;

private:
    /// From so many failures in a row on the watchdog tells of a slot.
    static constexpr std::uint32_t failures_to_tell = 3;

    struct Slot {
        Slot(SlotTable& owner, std::size_t number, BackoffOptions backoff, TimePoint now)
            : table{&owner}, index{number}, machine{backoff}, since{now} {}
        void on_timer() { table->apply(*this, table->due(*this)); }

        SlotTable* table;
        std::size_t index;
        SlotMachine machine;
        TimePoint since;
        timing::Timer timer{timing::Timer::calling<&Slot::on_timer>(this)};
        std::optional<std::uint64_t> accept{};
        SessionDriver* session{nullptr};
        std::string last_failure{};
    };
    struct Accept {
        std::uint64_t number;
        std::size_t slot;
        std::size_t target;
        TimePoint asked_at;
        ports::RequestId id{0};
    };

    void apply(Slot& slot, const SlotActions& actions);
    [[nodiscard]] SlotActions due(Slot& slot);
    void start_accept(Slot& slot);
    void give_up_accept(Slot& slot);
    void answered(std::uint64_t number, core::Result<ports::SessionLinkPtr> answer);
    void late(core::Result<ports::SessionLinkPtr> answer);
    void report(Slot& slot, std::size_t target, Failure failure);
    [[nodiscard]] SlotDescription describe(const Slot& slot) const;

    Shard& shard_;
    Workplace& workplace_;
    AcceptTargets targets_;
    LateSessions late_;
    std::list<Accept> accepts_{}; ///< also those given up and not answered
    std::uint64_t last_accept_{0};
    std::deque<Slot> slots_{};
    std::uint32_t active_slots_{0};
    std::uint32_t all_slots_{0}; ///< of all shards
    std::uint32_t calls_per_session_;
};

} // namespace sessionq::processor
