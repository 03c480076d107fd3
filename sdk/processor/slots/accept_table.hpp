// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "ports/endpoint.hpp"
#include "processor/report/health_machine.hpp"
#include "processor/slots/accept_machine.hpp"
#include "processor/slots/refusal_book.hpp"
#include "processor/slots/target_book.hpp"
#include "processor/workplace.hpp"
#include "timing/timer.hpp"

namespace sessionq::detail::processor {

/// Owns an accept table, and has the slots that its sessions are for. `SlotTable` implements it. On
/// the loop.
class AcceptOwner {
public:
    /// Credit that goes out with the next accept.
    [[nodiscard]] virtual ports::FirstCredit first_credit() = 0;
    /// A session was accepted, and a slot is free for it.
    virtual void granted(std::size_t target, TimePoint asked_at, ports::SessionLinkPtr link) = 0;

protected:
    ~AcceptOwner() = default;
};

/// Sends the accepts of a shard, as `AcceptMachine` decides, and takes their answers. `SlotTable`
/// owns it. On the loop.
class AcceptTable {
public:
    AcceptTable(AcceptOwner& owner, Workplace& workplace);

    /// `here` of the processor's `all` slots are here.
    void set_slots(std::uint32_t here, std::uint32_t all) { targets_.set_slots(here, all); }
    /// `free` slots look for a session.
    void need(std::uint32_t free);
    /// Does the same as `need`, but gives up accepts beyond the need at once, and not after a
    /// moment.
    void need_at_once(std::uint32_t free);
    /// The session of the target is no longer ours. Its claim is released.
    void let_go(std::size_t target) { targets_.release(target); }
    /// The broker answered the close of a session after `taken`.
    void closed_in(Duration taken) { machine_->closed_in(taken); }
    /// Drops the late sessions whose close the broker should have answered by `now`. Dropping their
    /// links gives them back too.
    void drop_late(TimePoint now);

    void show(HealthMachine& health);
    [[nodiscard]] const TargetBook& targets() const noexcept { return targets_; }
    /// Whether an accept is unanswered, or a late session is not given back yet.
    [[nodiscard]] bool has_accepts() const noexcept { return !accepts_.empty(); }
    [[nodiscard]] std::uint32_t pending() const noexcept { return machine_->pending(); }
    /// Whether the next accept waits for the end of a backoff.
    [[nodiscard]] bool is_pausing() const noexcept { return pending() == 0 && timer_.is_armed(); }

private:
    /// An accept from its request to its answer. If the answer is a session that comes too late,
    /// the accept stays until that session is given back (R19).
    struct Accept : Ask {
        ports::RequestId id{0};
        std::uint32_t expected{0}; ///< messages that may come with the answer
        ports::SessionLinkPtr late{};
        TimePoint late_until{TimePoint::max()};
    };
    using Accepts = std::list<Accept>;

    void look();
    void ask_anew();
    void ask(std::size_t target);
    void give_up(Ask& ask);
    void answered(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer);
    void give_back(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer,
                   Counters::Count& sessions);
    void failed(std::size_t target, const Failure& failure, bool is_news);
    void on_timer();
    [[nodiscard]] TimePoint now() const noexcept { return workplace_.loop().now(); }

    AcceptOwner& owner_;
    Workplace& workplace_;
    TargetBook targets_;
    std::optional<AcceptMachine> machine_;
    Accepts accepts_{};
    RefusalBook refusals_;
    timing::Timer timer_{timing::Timer::calling<&AcceptTable::on_timer>(this)};
};

} // namespace sessionq::detail::processor
