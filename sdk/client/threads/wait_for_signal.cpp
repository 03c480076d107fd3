// SPDX-License-Identifier: MIT
#include <sessionq/wait_for_signal.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <mutex>

#include <semaphore.h>

#include <sessionq/error.hpp>

namespace sessionq::inline v1 {
namespace {

constexpr std::array signals{SIGINT, SIGTERM};

// The signal handler uses only these two. Both are safe in a signal handler.
std::atomic<int> received{0};
sem_t arrived;

extern "C" void sessionq_on_signal(int number) {
    const int before = errno;
    received.store(number);
    ::sem_post(&arrived);
    errno = before;
}

/// The signal handlers, installed while there are watches.
class SignalHandlers {
public:
    void add() {
        const std::lock_guard lock{mutex_};
        if (watches_ == 0) {
            install();
        }
        ++watches_;
    }

    void remove() noexcept {
        const std::lock_guard lock{mutex_};
        if (--watches_ > 0) {
            return;
        }
        for (std::size_t i = 0; i < signals.size(); ++i) {
            ::sigaction(signals[i], &previous_[i], nullptr);
        }
    }

private:
    void install() {
        ::sem_init(&arrived, 0, 0);
        struct sigaction action {};
        action.sa_handler = sessionq_on_signal;
        ::sigemptyset(&action.sa_mask);
        for (std::size_t i = 0; i < signals.size(); ++i) {
            if (::sigaction(signals[i], &action, &previous_[i]) != 0) {
                throw Error{Errc::resource_exhausted, "SIGINT and SIGTERM cannot be watched"};
            }
        }
    }

    std::mutex mutex_;
    unsigned watches_{0};                                     // guarded by mutex_
    std::array<struct sigaction, signals.size()> previous_{}; // guarded by mutex_
};

SignalHandlers signal_handlers;

} // namespace

SignalWatch::SignalWatch() { signal_handlers.add(); }

SignalWatch::~SignalWatch() {
    if (!is_over_) {
        signal_handlers.remove();
    }
}

int SignalWatch::wait() {
    if (is_over_) {
        throw Error{Errc::invalid_state, "this SignalWatch has ended; make another one"};
    }
    while (::sem_wait(&arrived) != 0) {
    }                     // another signal interrupted the wait
    ::sem_post(&arrived); // so that other watches see the signal, too
    is_over_ = true;
    signal_handlers.remove();
    return received.load();
}

int wait_for_signal() { return SignalWatch{}.wait(); }

} // namespace sessionq::inline v1
