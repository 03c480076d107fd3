#pragma once

#include <deque>
#include <list>
#include <string>
#include <vector>

#include <sessionq/processor_report.hpp>

#include "ports/endpoint.hpp"
#include "processor/accept_rotation.hpp"
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
    void start_vacant();
    /// The slot may accept the next session.
    void session_left(const SessionSeat& seat, CloseReason reason, bool had_messages);
    /// Drops late sessions that the broker does not let go of by `now`, which gives them back too.
    void drop_late(TimePoint now);

    void describe(ProcessorDescription& into) const;
    /// What is wrong, for the watchdog.
    void examine(std::vector<std::string>& degraded) const;

    [[nodiscard]] const AcceptRotation& targets() const noexcept { return targets_; }
    [[nodiscard]] std::uint32_t calls_per_session() const noexcept { return calls_per_session_; }
    /// Accepts not answered, or sessions that came late.
    [[nodiscard]] bool has_accepts() const noexcept { return !accepts_.empty(); }
    [[nodiscard]] std::size_t held() const noexcept;

private:
    /// From so many failures in a row on the watchdog tells of a slot.
    static constexpr std::uint32_t failures_to_tell = 3;

    /// Until its answer. Where that is a session that came late, until it is given back (R19).
    struct Accept {
        std::size_t slot;
        std::size_t target;
        TimePoint asked_at;
        ports::RequestId id{0};
        ports::SessionLinkPtr late{};
        TimePoint late_until{TimePoint::max()};
    };
    using Accepts = std::list<Accept>;

    struct Slot {
        Slot(SlotTable& owner, std::size_t number)
            : table{&owner},
              index{number},
              machine{owner.workplace_.options().error_backoff, owner.workplace_.random},
              since{owner.now()} {}
        void on_timer() { table->due(*this); }

        SlotTable* table;
        std::size_t index;
        SlotMachine machine;
        TimePoint since;
        timing::Timer timer{timing::Timer::calling<&Slot::on_timer>(this)};
        const Accept* accept{nullptr}; ///< under way
        std::size_t target{0};         ///< asked for last
        SessionDriver* session{nullptr};
        std::string last_failure{};
    };

    void apply(Slot& slot, const SlotActions& actions, const Failure& failure = {});
    void due(Slot& slot);
    void start_accept(Slot& slot);
    void end_accept(Slot& slot);
    void answered(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer);
    void give_back(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer);
    void report(Slot& slot, const Failure& failure);
    [[nodiscard]] SlotDescription describe(const Slot& slot) const;
    [[nodiscard]] TimePoint now() const noexcept { return workplace_.loop().now(); }

    Shard& shard_;
    Workplace& workplace_;
    AcceptRotation targets_;
    Accepts accepts_{};
    std::deque<Slot> slots_{};
    std::uint32_t active_slots_{0};
    std::uint32_t calls_per_session_;
};

} // namespace sessionq::processor
