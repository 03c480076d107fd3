// SPDX-License-Identifier: MIT
#include "client/threads/receive_thread.hpp"

#include <exception>

#include <pthread.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "core/log.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::detail::client {
namespace {

thread_local const ReceiveThread* current_thread = nullptr;

// Polling streams costs more than a round of tasks, so a busy thread polls once in so many rounds.
constexpr unsigned rounds_between_polls = 8;
// If the rounds take this long, the thread polls earlier: the streams have waited enough.
constexpr Duration longest_between_polls = std::chrono::microseconds{250};

// Busy streams must not delay tasks and timers.
constexpr unsigned handlers_per_poll = 64;

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

} // namespace

/// Asio's loop and the timer that wakes it.
struct Reactor::Parts {
    void arm(TimePoint until);

    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
    asio::steady_timer timer{context};
    std::optional<TimePoint> armed{};
};

void Reactor::Parts::arm(TimePoint until) {
    armed = until;
    timer.expires_at(until);
    timer.async_wait([this](const asio::error_code& moved) {
        if (!moved) {
            armed.reset();
        }
    });
}

Reactor::Reactor() : parts_{std::make_unique<Parts>()} {}

Reactor::~Reactor() = default;

asio::io_context& Reactor::context() noexcept { return parts_->context; }

bool Reactor::poll_one() {
    parts_->context.restart(); // clears an interrupt that came while the thread was awake
    return parts_->context.poll_one() != 0;
}

void Reactor::wait(std::optional<TimePoint> until) {
    // An early timer costs one needless wake-up. Moving it would cost a system call per change.
    if (until && (!parts_->armed || *until < *parts_->armed)) {
        parts_->arm(*until);
    }
    parts_->context.run_one();
    parts_->context.restart();
}

void Reactor::interrupt() noexcept { parts_->context.stop(); }

/// A posted task, with the context of its submitter.
struct ReceiveThread::Posted : core::MpscNode {
    core::Task task;
    OperationContext context;

    Posted(core::Task work, const OperationContext& submitter)
        : task{std::move(work)}, context{submitter} {}

    void run() {
        if (context.is_clean()) {
            task();
            return;
        }
        const OperationContext::Scope restored{std::move(context)};
        task();
    }
};

ReceiveThread::ReceiveThread(const core::Clock& clock, Duration spin)
    : clock_{clock},
      spin_{spin},
      timers_{std::make_unique<timing::TimerService>(*this, clock.now())},
      thread_{[this](const std::stop_token& ending) { run(ending); }} {}

ReceiveThread::~ReceiveThread() {
    thread_.request_stop();
    wake();
    thread_.join();
    timers_.reset(); // its tasks may refer to it
    drop_tasks();
}

void ReceiveThread::post(core::Task task) {
    auto posted = std::make_unique<Posted>(std::move(task), OperationContext::current());
    if (posted_.push(*posted.release())) {
        wake();
    }
}

void ReceiveThread::wake() noexcept {
    // Exchanges the state even if it is `notified` already. The thread's next exchange then sees
    // everything that was written before this call.
    if (state_.exchange(State::notified, std::memory_order_acq_rel) == State::asleep) {
        reactor_.interrupt();
    }
}

bool ReceiveThread::on_this_thread() const noexcept { return current_thread == this; }

bool ReceiveThread::on_any() noexcept { return current_thread != nullptr; }

TimePoint ReceiveThread::now() const noexcept {
    if (!now_) {
        now_ = clock_.now();
    }
    return *now_;
}

void ReceiveThread::attach(core::Inbox& inbox) noexcept {
    inboxes_.attach(inbox);
    wake();
}

void ReceiveThread::run(const std::stop_token& ending) noexcept {
    pthread_setname_np(pthread_self(), "sessionq-recv");
    current_thread = this;
    while (!ending.stop_requested()) {
        run_round();
        State seen = State::awake;
        if (spin_found_work() ||
            !state_.compare_exchange_strong(seen, State::asleep, std::memory_order_acq_rel)) {
            continue;
        }
        sleep();
    }
    drop_tasks();
}

void ReceiveThread::run_round() {
    state_.exchange(State::awake, std::memory_order_acq_rel);
    begin_task();
    inboxes_.drain_all();
    run_tasks();
    begin_task();
    timers_->advance(now());
    if (++rounds_since_poll_ >= rounds_between_polls ||
        now() - polled_at_ >= longest_between_polls) {
        poll_reactor();
    }
}

void ReceiveThread::run_tasks() {
    for (Posted* posted = posted_.take_all(); posted != nullptr;) {
        const std::unique_ptr<Posted> owned{posted};
        posted = core::MpscQueue<Posted>::next(*posted);
        begin_task();
        try {
            owned->run();
        } catch (const std::exception& error) { // the thread continues, because it serves many
            core::log(LogLevel::error, "client",
                      "a task on a receive thread failed: ", error.what());
        }
    }
}

void ReceiveThread::poll_reactor() {
    rounds_since_poll_ = 0;
    polled_at_ = now();
    for (unsigned handlers = 0; handlers < handlers_per_poll; ++handlers) {
        begin_task();
        if (!reactor_.poll_one()) {
            return;
        }
    }
}

bool ReceiveThread::spin_found_work() const noexcept {
    if (spin_ <= Duration::zero()) {
        return false;
    }
    for (const TimePoint end = clock_.now() + spin_; clock_.now() < end; relax()) {
        if (state_.load(std::memory_order_relaxed) == State::notified) {
            return true;
        }
    }
    return false;
}

void ReceiveThread::sleep() {
    begin_task();
    rounds_since_poll_ = 0;
    reactor_.wait(timers_->next_wakeup());
    begin_task();
    polled_at_ = now();
}

void ReceiveThread::drop_tasks() noexcept {
    while (Posted* posted = posted_.take_all()) {
        while (posted != nullptr) {
            const std::unique_ptr<Posted> owned{posted};
            posted = core::MpscQueue<Posted>::next(*posted);
        }
    }
}

} // namespace sessionq::detail::client
