// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <sessionq/operation_context.hpp>

#include "core/event_loop.hpp"
#include "support/manual_clock.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::test {

/// An event loop that the test runs, on manual time. Belongs to the thread that creates it.
class ManualLoop final : public core::EventLoop {
public:
    ManualLoop() : timers_{*this, clock_.now()} {}

    void post(core::Task task) override {
        const std::lock_guard lock{mutex_};
        tasks_.emplace_back(std::move(task), OperationContext::current());
    }
    void wake() noexcept override { is_woken_.store(true, std::memory_order_release); }
    void attach(core::Inbox& inbox) noexcept override {
        inboxes_.attach(inbox);
        wake();
    }
    void detach(core::Inbox& inbox) noexcept override { core::InboxSet::detach(inbox); }

    [[nodiscard]] TimePoint now() const noexcept override { return clock_.now(); }
    [[nodiscard]] WallTime wall_now() const noexcept override { return clock_.wall_now(); }
    [[nodiscard]] timing::TimerService& timers() noexcept override { return timers_; }
    [[nodiscard]] bool on_this_thread() const noexcept override {
        return std::this_thread::get_id() == thread_;
    }

    [[nodiscard]] ManualClock& clock() noexcept { return clock_; }

    /// Runs one task or one round of inboxes. Returns false if there was nothing to do.
    bool turn() {
        if (is_woken_.exchange(false, std::memory_order_acquire)) {
            inboxes_.drain_all();
            return true;
        }
        auto next = take();
        if (!next) {
            return false;
        }
        const OperationContext::Scope scope{std::move(next->second)};
        next->first();
        return true;
    }

    /// Runs until nothing is left to do at this instant. Returns the number of turns.
    std::size_t run_until_idle() {
        std::size_t turns = 0;
        while (turn()) {
            ++turns;
        }
        return turns;
    }

    /// Advances time, stops at each timer on the way, and runs what is due.
    void advance(Duration length) { advance_to(now() + length); }
    void advance_to(TimePoint end) {
        run_until_idle();
        for (auto due = timers_.next_wakeup(); due && *due <= end; due = timers_.next_wakeup()) {
            move_to(*due);
        }
        move_to(end);
    }

private:
    using Queued = std::pair<core::Task, OperationContext>;

    std::optional<Queued> take() {
        const std::lock_guard lock{mutex_};
        if (tasks_.empty()) {
            return std::nullopt;
        }
        std::optional<Queued> next{std::move(tasks_.front())};
        tasks_.pop_front();
        return next;
    }

    void move_to(TimePoint instant) {
        if (instant > now()) {
            clock_.set(instant);
        }
        timers_.advance(now());
        run_until_idle();
    }

    const std::thread::id thread_{std::this_thread::get_id()};
    ManualClock clock_;
    std::mutex mutex_; // guards tasks_
    std::deque<Queued> tasks_;
    std::atomic<bool> is_woken_{false};
    core::InboxSet inboxes_;
    timing::TimerService timers_;
};

} // namespace sessionq::test
