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

namespace sessionq::detail::processor {

/// An accept that is under way, for `AcceptMachine`. After the answer, or when it is given up, it
/// is in no list.
struct Ask : core::ListHook<> {
    enum class Kind : std::uint8_t {
        tries,  ///< its target may have a ready session
        stands, ///< its target had no session ready, or has not answered soon
    };

    std::size_t target{0};
    TimePoint asked_at{};
    TimePoint overdue_at{};
    Kind kind{Kind::tries};
};

/// Decides which targets the free slots of a receive thread ask for a session (R25, DG9).
/// `AcceptTable` asks it when the number of free slots changes, when an accept is answered, and
/// when its timer is due.
///
/// As long as a slot is free, an accept stands at every entity, so that a session that becomes
/// ready anywhere comes at once. But the entities that have ready sessions get no more accepts than
/// there are free slots. Otherwise most of the granted sessions would have to go back. An accept
/// that is not answered soon shows that its entity has no ready session. Only then another entity
/// is asked in its place.
///
/// An entity without ready sessions gets accepts for its share of the slots. It gets more accepts
/// once all of these have brought a session. Named sessions take turns, because the broker grants a
/// named session even if it has no messages. No I/O, no clock.
class AcceptMachine {
public:
    /// Accepts that no slot needs are given up after this time. A slot that becomes free earlier
    /// uses such an accept.
    static constexpr Duration linger = std::chrono::milliseconds{100};

    AcceptMachine(TargetBook& targets, const BackoffOptions& backoff, core::Random& random);

    /// `free` slots look for a session now. Call `surplus` and `next_target` afterwards.
    void need(std::uint32_t free, TimePoint now) noexcept;
    /// Accepts beyond the need are given up at once.
    void hurry(TimePoint now) noexcept { surplus_at_ = now; }

    /// Returns a target to ask now, and claims it. Call `asked` for it.
    [[nodiscard]] std::optional<std::size_t> next_target(TimePoint now) noexcept;
    void asked(Ask& ask, std::size_t target, TimePoint now, TimePoint overdue_at) noexcept;
    /// Returns an accept to give up; null: there is none. The caller releases the claim of the
    /// accept's target.
    [[nodiscard]] Ask* surplus(TimePoint now) noexcept;
    /// Returns an accept whose answer is overdue (R16); null: there is none. The caller gives up
    /// the accept. The accept counts as failed.
    [[nodiscard]] Ask* overdue(TimePoint now) noexcept;

    /// The accept brought a session. Returns whether a slot is free for the session. If not, the
    /// session goes back.
    [[nodiscard]] bool granted(Ask& ask, TimePoint now) noexcept;
    /// The broker answered a close after `taken`. `GrantTime` estimates from it how soon the broker
    /// grants a session that is ready.
    void closed_in(Duration taken) noexcept { grant_time_.closed_in(taken); }
    /// The accept failed. Returns whether to tell the application.
    [[nodiscard]] bool failed(Ask& ask, Errc code, TimePoint now) noexcept;

    void due(TimePoint now) noexcept;
    /// When to call `due`; TimePoint::max(): not before another input.
    [[nodiscard]] TimePoint next(TimePoint now) const noexcept;

    [[nodiscard]] std::uint32_t free() const noexcept { return free_; }
    [[nodiscard]] std::uint32_t pending() const noexcept { return pending_; }
    /// When the oldest accept under way at the target was sent. Unset: there is none.
    [[nodiscard]] std::optional<TimePoint> asked_at(std::size_t target) const noexcept;

private:
    using Asks = core::IntrusiveList<Ask>;

    static constexpr std::uint64_t many = 1'000'000;

    struct Row {
        Row(const BackoffOptions& backoff, std::size_t at) : pace{backoff}, entity{at} {}

        AcceptPace pace; ///< for answers that concern only the sessions of this target
        std::size_t entity;
        std::uint32_t pending{0};
        std::uint32_t tries{0};   ///< accepts of the kind `tries` among them
        std::uint64_t came{many}; ///< sessions that came since the target had none
        bool dry{false};          ///< the target had no session ready when it was asked last
        std::uint64_t asked{0};
        std::uint64_t passed_over{0}; ///< the turn in which another thread had the claim
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
    std::vector<AcceptPace> entities_{}; ///< one for each entity, for all other answers
    Asks trying_{};                      ///< accepts of the kind `tries`, oldest first
    Asks standing_{};                    ///< accepts of the kind `stands`, oldest first
    GrantTime grant_time_{};
    TimePoint surplus_at_{TimePoint::max()};
    std::uint64_t turn_{0};
    std::uint32_t free_{0};
    std::uint32_t pending_{0};
    std::uint32_t tries_{0};
    std::uint32_t tries_a_slot_{1};
};

} // namespace sessionq::detail::processor
