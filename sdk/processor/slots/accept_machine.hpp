// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/intrusive_list.hpp"
#include "processor/slots/accept_pace.hpp"
#include "processor/slots/grant_time.hpp"
#include "processor/slots/target_book.hpp"

namespace sessionq::processor {

/// An accept that is under way. One that was answered or given up is in no list.
struct Ask : core::ListHook<> {
    enum class Kind : std::uint8_t {
        tries,  ///< its target is believed to have a session that is ready
        stands, ///< it is not, or has not answered soon
    };

    std::size_t target{0};
    TimePoint asked_at{};
    TimePoint overdue_at{};
    Kind kind{Kind::tries};
};

/// Decides what the free slots of a receive thread ask for (R25, DG9). As long as a slot is free an
/// accept stands at every entity, so that a session that becomes ready anywhere comes at once. But
/// entities that have sessions ready are asked for no more than there are free slots, or most of
/// what they grant would have to go back. Only an accept that is not answered soon shows that its
/// entity has nothing, and frees its turn for another one. An entity without sessions is asked for
/// its share of the slots, and for more once all these accepts have brought one. Named sessions,
/// which are granted without messages too, take turns. No I/O, no clock.
class AcceptMachine {
public:
    /// Accepts that stand beyond the need are given up after this: slots that are free again soon
    /// use them.
    static constexpr Duration linger = std::chrono::milliseconds{100};

    AcceptMachine(TargetBook& targets, const BackoffOptions& backoff, core::Random& random);

    /// So many slots look for a session now. Call `surplus` and `next_target` afterwards.
    void need(std::uint32_t free, TimePoint now) noexcept;
    /// What is beyond the need is given up at once.
    void hurry(TimePoint now) noexcept { surplus_at_ = now; }

    /// A target to ask now, claimed. Tell with `asked`.
    [[nodiscard]] std::optional<std::size_t> next_target(TimePoint now) noexcept;
    void asked(Ask& ask, std::size_t target, TimePoint now, TimePoint overdue_at) noexcept;
    /// An accept to give up. Its target's claim is the caller's to release.
    [[nodiscard]] Ask* surplus(TimePoint now) noexcept;
    /// An accept whose answer is overdue (R16), to be given up. It counts as failed.
    [[nodiscard]] Ask* overdue(TimePoint now) noexcept;

    /// It brought a session. False: no slot is free any more, give it back.
    [[nodiscard]] bool granted(Ask& ask, TimePoint now) noexcept;
    /// The broker answered a close after that time, which says how soon it answers at all.
    void closed_in(Duration taken) noexcept { grant_time_.closed_in(taken); }
    /// Whether to tell the application.
    [[nodiscard]] bool failed(Ask& ask, Errc code, TimePoint now) noexcept;

    void due(TimePoint now) noexcept;
    /// When to call `due`; TimePoint::max(): not before another input.
    [[nodiscard]] TimePoint next(TimePoint now) const noexcept;

    [[nodiscard]] std::uint32_t free() const noexcept { return free_; }
    [[nodiscard]] std::uint32_t pending() const noexcept { return pending_; }
    /// When the oldest accept of the target that is under way was asked for. Unset: there is none.
    [[nodiscard]] std::optional<TimePoint> asked_at(std::size_t target) const noexcept;

private:
    using Asks = core::IntrusiveList<Ask>;

    static constexpr std::uint64_t many = 1'000'000;

    struct Row {
        Row(const BackoffOptions& backoff, std::size_t at) : pace{backoff}, entity{at} {}

        AcceptPace pace; ///< after answers about its sessions alone
        std::size_t entity;
        std::uint32_t pending{0};
        std::uint32_t tries{0};   ///< of those
        std::uint64_t came{many}; ///< sessions, since it had none
        bool dry{false};          ///< it had no session ready when it was asked last
        std::uint64_t asked{0};
        std::uint64_t passed_over{0}; ///< the turn in which it was found to be another thread's
    };

    void look_for_surplus(TimePoint now) noexcept;
    [[nodiscard]] std::uint32_t most_pending(const Row& row) const noexcept;
    [[nodiscard]] bool wants(const Row& row) const noexcept;
    [[nodiscard]] TimePoint may_ask_at(const Row& row) const noexcept {
        return std::max(row.pace.wait_until(), entities_[row.entity].wait_until());
    }
    static void run_dry(Row& row) noexcept {
        row.dry = true;
        row.came = 0;
    }
    void forget(Ask& ask) noexcept;
    [[nodiscard]] bool spreads() const noexcept { return !targets_.named() && rows_.size() > 1; }

    TargetBook& targets_;
    core::Random& random_;
    std::vector<Row> rows_{};
    std::vector<AcceptPace> entities_{}; ///< after all other answers
    Asks trying_{};                      ///< of that kind, oldest first
    Asks standing_{};                    ///< of that kind, oldest first
    GrantTime grant_time_{};
    TimePoint surplus_at_{TimePoint::max()};
    std::uint64_t turn_{0};
    std::uint32_t free_{0};
    std::uint32_t pending_{0};
    std::uint32_t tries_{0};
    std::uint32_t tries_a_slot_{1};
};

} // namespace sessionq::processor
