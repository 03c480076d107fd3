// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// Explores every interleaving of a few small thread scripts.
///
/// The code under test takes its atomics and mutexes as template parameters. The test passes
/// `interleaving::Atomic` and `interleaving::Mutex`. Each access to one of them is a scheduling
/// point: any other script may run next. The scripts run as fibers on the calling thread, so the
/// exploration is deterministic and fast, and works under the address and thread sanitizers.
///
///     const auto outcome = interleaving::explore([](interleaving::Run& run) {
///         Counter<interleaving::Atomic> counter;  // fresh for each interleaving
///         run.thread([&] { counter.add(1); });
///         run.thread([&] { counter.add(1); });
///         run.execute();  // one interleaving of all threads, to their end
///         run.expect(counter.value() == 2, "both are counted");
///     });
///     CHECK_MESSAGE(outcome.passed(), outcome.to_string());
///
/// The body is called once per interleaving and must do the same each time. Nothing may depend on
/// a clock, random numbers or addresses.
///
/// It does not explore weak memory orders, spurious failures of `compare_exchange_weak`, or
/// accesses that are not replaced. Every interleaving is sequentially consistent; ThreadSanitizer
/// covers memory orders. All scripts share a `thread_local`. A script may block on `Mutex` and
/// `wait_until` only. Keep scripts small: the number of interleavings is the multinomial of their
/// steps, and three scripts of four accesses have 34,650.
namespace sessionq::test::interleaving {

struct Outcome {
    std::uint64_t interleavings{0};
    std::string violation; ///< empty: none found
    /// of the violation: the thread chosen at each scheduling point
    std::vector<std::size_t> schedule;
    bool complete{true}; ///< false: stopped at the limit

    [[nodiscard]] bool passed() const noexcept { return violation.empty() && complete; }
    [[nodiscard]] std::string to_string() const;
};

class Scheduler;

/// One interleaving, as the body of an exploration sees it.
class Run {
public:
    explicit Run(Scheduler& scheduler) noexcept : scheduler_{scheduler} {}

    /// Adds a script. An exception that leaves it is a violation.
    void thread(std::function<void()> script);

    /// Runs all scripts to their end. A deadlock is a violation, and so is a run of more than
    /// 10,000 steps. Returns false after a violation; the shared state is then incomplete and the
    /// body should return.
    bool execute();

    /// Records a violation unless `holds`. May be called from a script. Only the first violation
    /// counts.
    void expect(bool holds, const char* what);

private:
    Scheduler& scheduler_;
};

/// Runs `body` for every interleaving until the first violation or until `limit` interleavings.
[[nodiscard]] Outcome explore(const std::function<void(Run&)>& body,
                              std::uint64_t limit = 5'000'000);

/// A scheduling point. No effect outside `Run::execute`.
void point();

/// Lets other scripts run until `ready()` holds. `ready` must not contain a scheduling point.
void wait_until(const std::function<bool()>& ready);

/// Replaces `std::atomic`, with the functions that the library uses. Outside `Run::execute` it is a
/// plain value.
template <typename T>
class Atomic {
public:
    Atomic() noexcept : value_{} {}
    Atomic(T value) noexcept
        : value_{value} {} // NOLINT(google-explicit-constructor): as std::atomic
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    [[nodiscard]] T load(std::memory_order = std::memory_order_seq_cst) const {
        point();
        return value_;
    }
    void store(T value, std::memory_order = std::memory_order_seq_cst) {
        point();
        value_ = value;
    }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
        point();
        return std::exchange(value_, value);
    }
    bool compare_exchange_strong(T& expected, T desired,
                                 std::memory_order = std::memory_order_seq_cst,
                                 std::memory_order = std::memory_order_seq_cst) {
        point();
        if (value_ == expected) {
            value_ = desired;
            return true;
        }
        expected = value_;
        return false;
    }
    bool compare_exchange_weak(T& expected, T desired,
                               std::memory_order success = std::memory_order_seq_cst,
                               std::memory_order failure = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, desired, success, failure);
    }
    T fetch_add(T operand, std::memory_order = std::memory_order_seq_cst) {
        point();
        return std::exchange(value_, static_cast<T>(value_ + operand));
    }
    T fetch_sub(T operand, std::memory_order = std::memory_order_seq_cst) {
        point();
        return std::exchange(value_, static_cast<T>(value_ - operand));
    }
    T fetch_or(T operand, std::memory_order = std::memory_order_seq_cst) {
        point();
        return std::exchange(value_, static_cast<T>(value_ | operand));
    }
    T fetch_and(T operand, std::memory_order = std::memory_order_seq_cst) {
        point();
        return std::exchange(value_, static_cast<T>(value_ & operand));
    }

private:
    T value_;
};

/// Replaces `std::mutex` and works with `std::lock_guard`. Outside `Run::execute` it must be free.
class Mutex {
public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() {
        point();
        if (locked_) {
            wait_until([this] { return !locked_; });
        }
        locked_ = true;
    }
    bool try_lock() {
        point();
        return !std::exchange(locked_, true);
    }
    void unlock() {
        locked_ = false;
    } // no scheduling point here: the next one chooses among the waiting scripts

private:
    bool locked_{false};
};

} // namespace sessionq::test::interleaving
