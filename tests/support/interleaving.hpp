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
/// The code under test takes its atomics and mutexes as template parameters; the test gives it
/// `interleaving::Atomic` and `interleaving::Mutex`. Each access to one of them is a scheduling
/// point: a place where any other script may go on instead. The scripts run as fibers on the
/// calling thread, so exploring is deterministic and quick, and works under the address and thread
/// sanitizers.
///
///     const auto outcome = interleaving::explore([](interleaving::Run& run) {
///         Counter<interleaving::Atomic> counter;            // fresh for each interleaving
///         run.thread([&] { counter.add(1); });
///         run.thread([&] { counter.add(1); });
///         run.execute();                                    // one interleaving of all threads, to
///         their end run.expect(counter.value() == 2, "both are counted");
///     });
///     CHECK_MESSAGE(outcome.passed(), outcome.to_string());
///
/// The body is called once per interleaving. It must do the same each time: no clock, no random
/// numbers, no addresses that decide anything.
///
/// What it does not see: reordering by weak memory orders (every interleaving is sequentially
/// consistent; stress under ThreadSanitizer is for that), spurious failures of
/// `compare_exchange_weak`, and accesses that are not interposed. A `thread_local` is shared by all
/// scripts. A script must not block on anything but `Mutex` and `wait_until`. Keep scripts small:
/// the count of interleavings is the multinomial of their steps, three scripts of four accesses
/// have 34,650.
namespace sessionq::test::interleaving {

struct Outcome {
    std::uint64_t interleavings{0};
    std::string violation; ///< empty: none found
    std::vector<std::size_t>
        schedule; ///< of the violation: which thread went on at each scheduling point with a choice
    bool complete{true}; ///< false: stopped at the limit

    [[nodiscard]] bool passed() const noexcept { return violation.empty() && complete; }
    [[nodiscard]] std::string to_string() const;
};

class Scheduler;

/// One interleaving, as the body of an exploration sees it.
class Run {
public:
    explicit Run(Scheduler& scheduler) noexcept : scheduler_{scheduler} {}

    /// Adds a script. Exceptions that leave it are violations.
    void thread(std::function<void()> script);

    /// Runs all scripts to their end. A deadlock is a violation, and so is a run that takes more
    /// than 10,000 steps. Returns false after one of these: what the scripts share is then
    /// half-done, and the body had better return.
    bool execute();

    /// Notes a violation unless `holds`; also from within a script. The first one counts.
    void expect(bool holds, const char* what);

private:
    Scheduler& scheduler_;
};

/// Runs `body` for every interleaving, up to the first violation, or to `limit` interleavings.
[[nodiscard]] Outcome explore(const std::function<void(Run&)>& body,
                              std::uint64_t limit = 5'000'000);

/// A scheduling point; of no effect outside `Run::execute`.
void point();

/// Lets others run until `ready()` holds. `ready` must not contain a scheduling point.
void wait_until(const std::function<bool()>& ready);

/// Takes the place of `std::atomic`: as much of it as the library uses. Outside `Run::execute` it
/// is a plain value.
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

/// Takes the place of `std::mutex`, with `std::lock_guard` and the like. Outside `Run::execute` it
/// must be free.
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
    } // no scheduling point: who waits is chosen, if at all, at the next one

private:
    bool locked_{false};
};

} // namespace sessionq::test::interleaving
