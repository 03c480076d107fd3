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

namespace sessionq {
namespace {

constexpr std::array signals{SIGINT, SIGTERM};

// The signal handler touches nothing else.
std::atomic<int> received{0};
sem_t arrived;

extern "C" void sessionq_on_signal(int number) {
    const int before = errno;
    received.store(number);
    ::sem_post(&arrived);
    errno = before;
}

/// Installs the signal handlers while threads wait. Counts these threads.
class Watch {
public:
    Watch() {
        const std::lock_guard lock{mutex};
        if (waiting++ > 0) {
            return;
        }
        ::sem_init(&arrived, 0, 0);
        struct sigaction action {};
        action.sa_handler = sessionq_on_signal;
        ::sigemptyset(&action.sa_mask);
        for (std::size_t i = 0; i < signals.size(); ++i) {
            if (::sigaction(signals[i], &action, &previous[i]) != 0) {
                --waiting;
                throw Error{Errc::resource_exhausted, "SIGINT and SIGTERM cannot be watched"};
            }
        }
    }

    ~Watch() {
        const std::lock_guard lock{mutex};
        if (--waiting > 0) {
            ::sem_post(&arrived); // the others wait for the same signal
            return;
        }
        for (std::size_t i = 0; i < signals.size(); ++i) {
            ::sigaction(signals[i], &previous[i], nullptr);
        }
    }

    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    int wait() {
        while (::sem_wait(&arrived) != 0) {
        } // another signal interrupted the wait
        return received.load();
    }

private:
    static inline std::mutex mutex;
    static inline unsigned waiting = 0;                                    // guarded by mutex
    static inline std::array<struct sigaction, signals.size()> previous{}; // guarded by mutex
};

} // namespace

int wait_for_signal() { return Watch{}.wait(); }

} // namespace sessionq
