// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "processor/credit/credit_window.hpp"
#include "processor/credit/fetch_window.hpp"
#include "processor/session/session_settings.hpp"

namespace sessionq::detail::processor {

/// Decides when a session asks the broker for messages, and for how many. `SessionMachine` asks it
/// after each input, and tells it of messages and drains. `FetchWindow` decides how many messages
/// to fetch ahead. `CreditWindow` counts the credit. `DrainTime` tells how long before the end of
/// the idle timeout the session drains, so that the answer is there when the timeout ends.
class SessionFlow {
public:
    SessionFlow(const SessionSettings& settings, SessionStart start) noexcept
        : credit_{settings.budget, std::move(start.share)},
          window_{settings.budget, start.limits.prefetch, window_half(start.calls, settings.batch)},
          drain_time_{settings.drain_time},
          drain_timeout_{settings.tuning.drain_timeout} {}

    /// The accept carried credit.
    void given(ports::FirstCredit first, TimePoint now) noexcept {
        credit_.given(first, now + drain_timeout_);
    }
    void arrived(std::size_t bytes, TimePoint now) noexcept {
        credit_.arrived(bytes);
        window_.arrived(credit_.credit() == 0, now);
        asked_ahead_ = false;
    }
    /// A handler has ended. `held`: the messages that came and have not left. `is_dry`: no message
    /// waits for a handler.
    void handled(std::uint32_t held, bool is_dry, TimePoint now) noexcept {
        window_.ended(held, is_dry, now);
    }
    void left(std::size_t bytes) noexcept { credit_.left(bytes); }

    /// Returns how many more messages to ask for. `held`: the messages that came and have not left.
    /// `set_aside`: the held messages that take no place in the window. `most`: the largest window
    /// that is allowed now.
    [[nodiscard]] std::uint32_t grant(std::uint32_t held, std::uint32_t set_aside,
                                      std::uint32_t most) noexcept {
        return credit_.grant(std::min(window_.size(), most), held, set_aside);
    }

    /// Returns whether to ask for the credit back. If so, `is_draining` is true until the answer.
    [[nodiscard]] bool drain(TimePoint now) noexcept {
        const bool asks = credit_.drain(now + drain_timeout_);
        if (asks) {
            asked_at_ = now;
        }
        return asks;
    }
    /// The drain that was just asked for goes out before the idle timeout ends.
    void goes_ahead() noexcept { asked_ahead_ = true; }
    /// The broker answered a drain. Returns false if the answer shows nothing.
    [[nodiscard]] bool drained(TimePoint now) noexcept {
        if (asked_at_ != TimePoint{}) { // else the drain went out with the accept
            drain_time_.answered_in(now - asked_at_);
        }
        return credit_.drained();
    }
    /// The session asks for no more messages: a drain was not answered, or the lock is lost.
    void close() noexcept { credit_.close(); }

    void configure(std::uint32_t prefetch) noexcept { window_.configure(prefetch); }
    void limit_handled(std::uint32_t messages) noexcept { window_.limit_handled(messages); }
    /// The idle timeout has changed. A drain that went ahead of its old end does not count any
    /// more.
    void forget_ahead() noexcept { asked_ahead_ = false; }

    /// Whether the session rolls (R4): the broker has shown that it has no more messages, and the
    /// session need not wait for more messages.
    [[nodiscard]] bool rolls(Duration idle_timeout) const noexcept {
        return (idle_timeout == Duration::zero() || asked_ahead_) && credit_.shown_empty();
    }
    /// Returns when to drain, so that the answer comes at `idle_end`. TimePoint::max(): not now.
    /// The early drain cuts no message off: a message that reaches the broker after the drain could
    /// not have been here before `idle_end` either.
    [[nodiscard]] TimePoint ask_at(TimePoint idle_end, Duration idle_timeout) const noexcept {
        if (credit_.phase() != CreditWindow::Phase::flowing || credit_.credit() == 0 ||
            idle_end == TimePoint::max()) {
            return TimePoint::max();
        }
        return idle_end - std::min(drain_time_.least(), idle_timeout);
    }

    [[nodiscard]] bool is_draining() const noexcept { return credit_.is_draining(); }
    [[nodiscard]] bool is_closed() const noexcept {
        return credit_.phase() == CreditWindow::Phase::closed;
    }
    /// When an unanswered drain is overdue; TimePoint::max(): there is none.
    [[nodiscard]] TimePoint drain_by() const noexcept { return credit_.drain_by(); }
    [[nodiscard]] std::uint32_t credit() const noexcept { return credit_.credit(); }
    [[nodiscard]] std::uint32_t window() const noexcept { return window_.size(); }

private:
    CreditWindow credit_;
    FetchWindow window_;
    DrainTime& drain_time_;
    const Duration drain_timeout_;
    bool asked_ahead_{false}; ///< a drain went out before the idle clock was due
    TimePoint
        asked_at_{}; ///< when the last drain was asked for; unset: none was, except with the accept
};

} // namespace sessionq::detail::processor
