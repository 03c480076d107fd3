// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include <sessionq/time.hpp>

#include "processor/credit_window.hpp"
#include "processor/fetch_window.hpp"
#include "processor/session_actions.hpp"
#include "processor/session_terms.hpp"
#include "timing/session_idle_timer.hpp"

namespace sessionq::processor {

/// Where a session stands. Its machines share it, together with the input under way.
struct SessionState {
    enum class Phase : std::uint8_t {
        held_back,    ///< handlers of an earlier lock of this session still run
        opening,      ///< on_session_open runs
        working,      ///< messages flow
        parked,       ///< by the failure policy, until the session is left
        idling_out,   ///< the idle clock is due; the drain's answer decides (R3)
        rewinding,    ///< a message is to be abandoned: waits for the drain (R6)
        putting_back, ///< what was behind it and then itself go back
        draining,     ///< no new handler starts; waits for the drain before what waits goes back
        leaving,      ///< waits for handlers and settlements under way
        closing_call, ///< on_session_close runs
        closing_link, ///< the session was given back; waits for the broker's answer
        finished,
    };

    SessionState(const SessionTerms& given, TimePoint accepted) noexcept
        : terms{given},
          idle{given.limits.idle_timeout},
          credit{given.budget, given.share},
          fetch{given.budget, given.limits.prefetch, window_half(given.calls, given.batch)},
          now{accepted},
          progress_at{accepted} {}

    const SessionTerms terms;
    timing::SessionIdleTimer idle;
    CreditWindow credit;
    FetchWindow fetch;
    Phase phase{Phase::held_back};
    bool lost{false};         ///< the lock is
    bool dead_letters{false}; ///< the rest of the session is dead-lettered
    bool asked_ahead{false};  ///< a drain went out before the idle clock was due
    TimePoint asked_at{};     ///< the last drain
    TimePoint now;            ///< of the input under way
    /// When a handler ended last, or the session began to wait for one.
    TimePoint progress_at;
    SessionActions actions{};

    void add(const SessionAction& action) { actions.add(action); }
    void add(SessionAction::Kind kind, std::uint32_t count = 0) {
        actions.add({.kind = kind, .count = count});
    }

    void limit_idleness(Duration timeout) noexcept {
        idle.set_timeout(timeout);
        asked_ahead = false;
    }

    /// Received messages are deleted: they cannot go back.
    [[nodiscard]] bool removes() const noexcept { return terms.options.receive_and_delete; }

    /// The lock is held and the link can be used.
    [[nodiscard]] bool usable() const noexcept { return !lost && phase != Phase::finished; }
    /// The lock is to be renewed and watched.
    [[nodiscard]] bool keeps_lock() const noexcept { return !lost && phase < Phase::closing_link; }
    [[nodiscard]] bool is_leaving() const noexcept { return phase >= Phase::draining; }
    [[nodiscard]] bool is_rewinding() const noexcept {
        return phase == Phase::rewinding || phase == Phase::putting_back;
    }
    /// The broker has shown that there is nothing more, and nothing more is waited for (R4).
    [[nodiscard]] bool rolls() const noexcept {
        return (idle.timeout() == Duration::zero() || asked_ahead) && credit.shown_empty();
    }
    /// Messages may be asked for. What is removed cannot go back if on_session_open fails: it is
    /// fetched afterwards.
    [[nodiscard]] bool may_fetch() const noexcept {
        return phase == Phase::working || (phase == Phase::opening && !removes());
    }
    /// A drain was answered. False: the answer shows nothing.
    [[nodiscard]] bool drained() noexcept {
        if (asked_at != TimePoint{}) { // else it went out with the accept
            terms.drain_time.answered_in(now - asked_at);
        }
        return credit.drained();
    }
    /// When to ask the broker whether it has more, so that the answer is there when the idle
    /// timeout is over. A message that this misses would have come after the timeout.
    [[nodiscard]] TimePoint ask_at() const noexcept {
        if (phase != Phase::working || credit.phase() != CreditWindow::Phase::flowing ||
            credit.credit() == 0 || idle.due_at() == TimePoint::max()) {
            return TimePoint::max();
        }
        return idle.due_at() - std::min(terms.drain_time.least(), idle.timeout());
    }
    /// What no handler has begun goes back to the broker. A parked session keeps it until its drain
    /// is answered, because it would come again on the credit that is left.
    [[nodiscard]] bool gives_back() const noexcept {
        return is_leaving() || phase == Phase::putting_back ||
               (phase == Phase::parked && !removes() && !credit.is_draining());
    }
    /// What has come goes to handlers, and does not wait for more any longer if no more comes.
    [[nodiscard]] bool hands_on() const noexcept {
        return phase <= Phase::working || phase == Phase::idling_out || (is_leaving() && removes());
    }
    /// What becomes of a message that no handler has begun. None: it is forgotten, the broker has
    /// it.
    [[nodiscard]] std::optional<Verdict> back_verdict() const noexcept {
        if (lost) {
            return std::nullopt;
        }
        return dead_letters && !is_leaving() ? Verdict::dead_letter_session : Verdict::release;
    }
    /// A message that is settled does not let the next one start.
    [[nodiscard]] bool keeps_holds() const noexcept {
        return is_rewinding() || (is_leaving() && !removes());
    }
};

} // namespace sessionq::processor
