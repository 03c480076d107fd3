// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <sessionq/time.hpp>

#include "processor/session/session_machine.hpp"

namespace sessionq::detail::processor {

/// Decides how long sessions keep their slots while other sessions wait for a slot (R14). It does
/// so only if the application sets no `max_hold`. `SlotTable` begins a look when `next` is due, and
/// then asks for each session whether to leave it.
///
/// If the broker reports how many sessions are ready, all sessions share the slots in rounds. The
/// more sessions are ready, the shorter is the hold.
///
/// If the broker does not report it, the machine tries. It leaves a session now and then, and sees
/// which session the slot gets next. If another session comes at once, that session has waited, and
/// more sessions may wait. Then the machine leaves more sessions, twice as many each time. If the
/// same session comes, or no session comes soon, no session waits, and the next try comes later. No
/// I/O, no clock.
class FairnessMachine {
public:
    /// The longest hold of a session while others wait.
    static constexpr Duration turn = std::chrono::seconds{5};
    /// The shortest hold, however many sessions wait. If the hold were shorter, leaving and
    /// accepting sessions would take the time of handlers.
    static constexpr Duration least = std::chrono::milliseconds{50};

    /// The slots of a receive thread at a look.
    struct Slots {
        std::size_t here{0};
        std::size_t all{0};  ///< slots of the processor
        std::size_t free{0}; ///< slots that look for a session
        std::size_t held{0}; ///< slots that have a session
        std::optional<std::size_t>
            ready{}; ///< ready sessions, for all slots; unset: the broker does not report them
    };

    /// If `is_used` is false, the machine makes no session leave its slot.
    explicit FairnessMachine(bool is_used) noexcept : is_used_{is_used} {}

    [[nodiscard]] bool is_used() const noexcept { return is_used_; }
    /// All sessions keep their slots until something changes.
    void rest() noexcept {
        hold_.reset();
        next_.reset();
        bound_ = Duration::zero();
        leaves_ = 0;
    }
    void look_soon(TimePoint now) noexcept {
        if (is_used()) {
            look_by(now + look_every);
        }
    }
    /// Begins a look. Call `leaves` next, for each session that has a slot.
    void look(const Slots& slots, TimePoint now) noexcept {
        rest();
        if (!is_used() || slots.here == 0) {
            return;
        }
        if (slots.ready) {
            known(slots, now);
        } else if (slots.held >= slots.here) {
            unknown(now);
        }
    }
    /// Returns whether to leave a session that has had its slot since `since`. Call it first for
    /// the sessions that are being left already, then for the others in the order of `since`.
    [[nodiscard]] bool leaves(const std::string& session, SessionMachine::Phase phase,
                              TimePoint since, TimePoint now) {
        if (phase >= SessionMachine::Phase::draining) {
            leaves_ -= leaves_ != 0 ? 1 : 0;
            return false;
        }
        if (phase == SessionMachine::Phase::parked || !hold_) {
            return false;
        }
        const TimePoint due = since + *hold_;
        if (leaves_ == 0) { // no session is left before the next try
            look_by(std::max(due, now < try_at_ ? try_at_ : now + soon));
            return false;
        }
        if (now < due) {
            look_by(due);
            return false;
        }
        --leaves_;
        try_at_ = now + rest_;
        left_ids_.erase(session); // the id of the last time counts
        left_ids_.insert(left_.emplace_back(session, now).first);
        return true;
    }

    /// A slot got a session. `asked`: when its accept was sent. `none_free`: no slot looks for a
    /// session now.
    void granted(const std::string& session, TimePoint asked, bool none_free, TimePoint now) {
        if (!is_used()) {
            return;
        }
        forget(now);
        const bool tried = !left_ids_.empty();
        const bool is_same = left_ids_.erase(session) != 0;
        others_wait_ = !is_same && now < asked + soon;
        seen_at_ = now;
        if (others_wait_) {
            burst_ = tried ? std::min(burst_ * 2, most_at_once) : burst_;
            rest_ = turn;
        } else {
            burst_ = 1;
            rest_ = tried ? std::min(rest_ * 2, longest_rest) : rest_;
            try_at_ = now + rest_;
        }
        if (none_free) {
            look_by(tried && others_wait_ ? now : now + look_every);
        }
    }

    /// When to look again; TimePoint::max(): not before another input.
    [[nodiscard]] TimePoint next() const noexcept { return next_.value_or(TimePoint::max()); }
    /// How long a session may keep its slot. Zero: without end.
    [[nodiscard]] Duration hold() const noexcept { return hold_.value_or(Duration::zero()); }
    /// The time within which a ready session gets a slot. Zero: it is unknown.
    [[nodiscard]] Duration bound() const noexcept { return bound_; }

private:
    using Left = std::pair<std::string, TimePoint>; ///< a session's id, and when it was left

    /// A session that comes so soon after its accept was sent was ready before.
    static constexpr Duration soon = std::chrono::seconds{1};
    static constexpr Duration look_every = std::chrono::milliseconds{250};
    static constexpr Duration longest_rest = std::chrono::minutes{1};
    static constexpr std::size_t most_at_once = 1024;

    /// Forgets the sessions that were left too long ago.
    void forget(TimePoint now) {
        while (!left_.empty() && now >= left_.front().second + soon) {
            const std::string& id = left_.front().first;
            const auto found = left_ids_.find(id);
            if (found != left_ids_.end() && found->data() == id.data()) {
                left_ids_.erase(found);
            }
            left_.pop_front();
        }
    }

    void look_by(TimePoint when) noexcept { next_ = std::min(next(), when); }

    void known(const Slots& slots, TimePoint now) noexcept {
        const std::size_t others = *slots.ready - std::min(*slots.ready, slots.free);
        if (others != 0 || slots.free == 0) {
            look_by(now + look_every);
        }
        if (others == 0) {
            pace_ = turn;
            return;
        }
        const auto all = static_cast<Duration::rep>(others + slots.all);
        const auto places = static_cast<Duration::rep>(slots.all);
        // A round keeps its shortest hold until its end, although fewer sessions wait by then.
        if (now >= round_ends_) {
            pace_ = turn;
            round_ends_ = now + turn;
        }
        pace_ = std::min(pace_, std::max(turn * places / all, least));
        hold_ = pace_;
        bound_ = std::max(turn, pace_ * all / places);
        leaves_ = (others * slots.here + slots.all - 1) / slots.all;
    }

    void unknown(TimePoint now) noexcept {
        hold_ = turn;
        if (now >= seen_at_ + soon) {
            burst_ = 1; // other consumers may have taken the sessions that waited
        }
        leaves_ = others_wait_ || now >= try_at_ ? burst_ : 0;
    }

    bool is_used_;
    std::optional<Duration> hold_{};
    std::optional<TimePoint> next_{};
    Duration bound_{};
    std::size_t leaves_{0}; ///< how many more sessions to leave in this look
    // If the broker reports ready sessions
    TimePoint round_ends_{};
    Duration pace_{turn};
    // If it does not
    std::deque<Left> left_{}; ///< sessions that were left a moment ago, the oldest first
    /// The ids in `left_` that have not come again. Many sessions may be left within the time, and
    /// each session that comes is looked for.
    std::unordered_set<std::string_view> left_ids_{};
    bool others_wait_{false};
    TimePoint seen_at_{}; ///< when `others_wait_` was set
    std::size_t burst_{1};
    Duration rest_{turn};
    TimePoint try_at_{};
};

} // namespace sessionq::detail::processor
