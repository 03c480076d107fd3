// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/deadline.hpp>

#include "broker/effects.hpp"
#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/journal_faults.hpp"
#include "broker/stored_bytes.hpp"
#include "broker/transit.hpp"
#include "timing/timer_wheel.hpp"

namespace sessionq::broker {

/// Each timer takes a microsecond or two, under the queue's lock. Between two turns other threads
/// get the lock.
inline constexpr std::size_t timers_a_turn = 500;
inline constexpr Duration time_between_turns = std::chrono::milliseconds{1};

/// The state that a queue and its dead-letter sub-queue share: the time of the current operation,
/// its notifications and changes, the account of their bytes, and the timers.
class QueueContext {
public:
    /// Without a journal nothing is stored. `size` is that of the topic, if it belongs to one.
    explicit QueueContext(Instant start, Journal* journal = nullptr, SizeAccount* size = nullptr)
        : at_{start}, journal_{journal}, stored_{size}, wheel_{start.now} {}

    /// Begins an operation: first runs the timers that are due, up to `timers_a_turn`. If there are
    /// more, the rest is due `time_between_turns` later. Returns true if there were any.
    bool begin(Instant at) {
        at_ = at;
        return run_due_timers();
    }

    [[nodiscard]] TimePoint now() const noexcept { return at_.now; }
    [[nodiscard]] WallTime wall_now() const noexcept { return at_.wall; }
    /// Converts a wall-clock instant to the monotonic time line.
    [[nodiscard]] TimePoint monotonic(WallTime wall) const noexcept {
        return Deadline::after(wall - at_.wall, at_.now).time();
    }
    [[nodiscard]] StoredBytes& stored() noexcept { return stored_; }
    [[nodiscard]] Effects& effects() noexcept { return effects_; }
    /// The messages that leave for other queues, in order.
    [[nodiscard]] std::vector<Transit>& transits() noexcept { return transits_; }

    /// Operations that must be stored are rejected for now.
    [[nodiscard]] bool is_failing() const noexcept {
        return journal_ != nullptr && journal_->is_failing();
    }
    /// Operations that add to the stored state are rejected for now.
    [[nodiscard]] bool is_full() const noexcept {
        return journal_ != nullptr && journal_->is_full();
    }
    /// Why a change of the named entity is rejected for now, if so.
    [[nodiscard]] std::optional<Failure> find_fault(std::string_view name, Growth growth) const {
        return find_journal_fault(journal_, name, growth);
    }
    /// Records the change that `make` returns. Without a journal there is none to make.
    template <typename Make>
    void note(Make make) {
        if (journal_ != nullptr) {
            changes_.push_back(make());
        }
    }
    /// Ends an operation: passes its changes to the journal, all or none.
    void submit_changes() {
        if (!changes_.empty()) {
            journal_->append(std::exchange(changes_, {}));
        }
    }
    /// Stores nothing from now on.
    void detach_journal() noexcept {
        journal_ = nullptr;
        changes_.clear();
    }

    void arm(timing::Timer& timer, TimePoint due) {
        wheel_.insert(timer, due);
        next_due_ = due < next_due_ ? due : next_due_;
    }

    void cancel(timing::Timer& timer) noexcept {
        wheel_.cancel(timer);
        timer.unlink(); // it may have expired and not run yet
    }

    /// Nothing is due before this; max: nothing at all. It may be too early: asking the wheel after
    /// each operation would cost more than an unnecessary wake-up.
    [[nodiscard]] TimePoint next_due() const noexcept { return next_due_; }

private:
    bool run_due_timers() {
        if (at_.now < next_due_) {
            return false;
        }
        wheel_.advance(at_.now, expired_);
        for (std::size_t run = 0; run < timers_a_turn; ++run) {
            timing::Timer* const timer = expired_.pop_front();
            if (timer == nullptr) {
                break;
            }
            timer->run();
        }
        next_due_ = expired_.empty() ? wheel_.next_wakeup().value_or(TimePoint::max())
                                     : at_.now + time_between_turns;
        return true;
    }

    Instant at_;
    Journal* journal_;
    StoredBytes stored_;
    std::vector<Change> changes_;
    Effects effects_;
    std::vector<Transit> transits_;
    timing::TimerWheel wheel_;
    timing::TimerWheel::List expired_{}; // due, and not run yet
    TimePoint next_due_{TimePoint::max()};
};

} // namespace sessionq::broker
