// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include <sessionq/operation_context.hpp>

#include "core/event_loop.hpp"
#include "core/mpsc_queue.hpp"

namespace asio {
class io_context;
}

namespace sessionq::detail::client {

/// Lets a receive thread sleep until a socket is ready, a timer is due, or a task is posted. It
/// consists of Asio's reactor and one timer of the operating system. Only `interrupt` may be called
/// from other threads.
class Reactor {
public:
    Reactor();
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    /// The context of the thread's streams. Their handlers run in `poll_one` and `wait`.
    [[nodiscard]] asio::io_context& context() noexcept;

    /// Runs one ready handler. False: there was none. Does not wait.
    bool poll_one();

    /// Sleeps until a handler has run, until `until`, or until `interrupt`. May return early.
    void wait(std::optional<TimePoint> until);

    /// Ends the current wait, or the next one. Thread-safe. Allocates nothing.
    void interrupt() noexcept;

private:
    struct Parts;

    const std::unique_ptr<Parts> parts_; // hides Asio, because many sources include this header
};

/// The loop of a client's sessions, timers and connections. A `ClientCore` makes its receive
/// threads, and the programs in `tools/` make some, too. Any thread may post a task to it. User
/// code never runs on it, and nothing on it waits.
///
/// It is one thread of the operating system, with one Asio reactor and one timer service. It sleeps
/// when nothing is due. While it is awake, posting to it needs no system call.
class ReceiveThread final : public core::EventLoop {
public:
    /// Starts the thread. Before the thread sleeps, it looks for new work for the time `spin`. This
    /// may save a wake-up, and costs `spin` of processor time.
    explicit ReceiveThread(const core::Clock& clock = core::system_clock(),
                           Duration spin = Duration::zero());

    /// Ends the thread after its current round, and waits for its end. Must not be called on the
    /// thread itself. Destroys tasks that have not run.
    ~ReceiveThread() override;
    ReceiveThread(const ReceiveThread&) = delete;
    ReceiveThread& operator=(const ReceiveThread&) = delete;

    void post(core::Task task) override;
    void wake() noexcept override;
    [[nodiscard]] bool on_this_thread() const noexcept override;

    [[nodiscard]] TimePoint now() const noexcept override;
    [[nodiscard]] WallTime wall_now() const noexcept override { return clock_.wall_now(); }
    [[nodiscard]] timing::TimerService& timers() noexcept override { return *timers_; }
    void attach(core::Inbox& inbox) noexcept override;
    void detach(core::Inbox& inbox) noexcept override { core::InboxSet::detach(inbox); }

    /// The context of this thread's streams.
    [[nodiscard]] asio::io_context& io_context() noexcept { return reactor_.context(); }

    /// Whether the caller is on any receive thread, where waiting is forbidden.
    [[nodiscard]] static bool on_any() noexcept;

private:
    struct Posted;
    enum class State : int { awake, notified, asleep };

    void run(const std::stop_token& ending) noexcept;
    void run_round();
    void run_tasks();
    void poll_reactor();
    bool spin_found_work() const noexcept;
    void sleep();
    void drop_tasks() noexcept;
    void begin_task() noexcept { now_.reset(); }

    const core::Clock& clock_;
    const Duration spin_;
    core::MpscQueue<Posted> posted_;
    std::atomic<State> state_{State::awake};

    // Only this thread uses these.
    mutable std::optional<TimePoint> now_{}; // for the running task; unset: not read yet
    unsigned rounds_since_poll_{0};
    TimePoint polled_at_{}; // the last poll, or the end of the last sleep
    core::InboxSet inboxes_;
    Reactor reactor_;
    std::unique_ptr<timing::TimerService> timers_;

    std::jthread thread_; // last: it uses all of the above
};

} // namespace sessionq::detail::client
