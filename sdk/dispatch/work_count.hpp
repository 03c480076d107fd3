// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace sessionq::dispatch {

/// Counts the works that an executor has, and decides whether it gets another one. As few as
/// necessary: a work that waits will look for work when it begins, so what was published before
/// needs no other one.
///
/// A work that ends or is dropped is counted first and looks for work then. Work that was published
/// before `add` is therefore either seen by that look, or `add` no longer counts that work. It also
/// writes when it adds nothing, so that a work that begins sees all that was published before.
/// Thread-safe, lock-free.
template <typename Sync>
class BasicWorkCount {
public:
    /// Counts one more that waits, unless as many wait as there is work, or as many are out as
    /// there may be, or the executor rests. Returns whether it did: the caller gives the executor a
    /// work.
    [[nodiscard]] bool add(std::size_t work, std::size_t most) noexcept {
        std::uint64_t state = state_.load();
        bool added = false;
        do {
            added =
                !rests(state) && waiting(state) < work && waiting(state) + running(state) < most;
        } while (!state_.compare_exchange_weak(state, state + (added ? one_waiting : 0)));
        return added;
    }

    void begin() noexcept { state_.fetch_add(one_running - one_waiting); }
    void end() noexcept { state_.fetch_sub(one_running); }
    void drop() noexcept { state_.fetch_sub(one_waiting); }

    /// None is added until `go_on`. The caller of `go_on` looks for work then.
    void rest() noexcept { state_.fetch_or(resting); }
    void go_on() noexcept { state_.fetch_and(~resting); }

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting(state_.load()); }
    [[nodiscard]] std::size_t running() const noexcept { return running(state_.load()); }

private:
    static constexpr std::uint64_t one_running = 1;
    static constexpr std::uint64_t one_waiting = std::uint64_t{1} << 32;
    static constexpr std::uint64_t resting = std::uint64_t{1} << 63;

    static constexpr bool rests(std::uint64_t state) noexcept { return (state & resting) != 0; }
    static constexpr std::size_t waiting(std::uint64_t state) noexcept {
        return (state & ~resting) >> 32;
    }
    static constexpr std::size_t running(std::uint64_t state) noexcept {
        return state & (one_waiting - 1);
    }

    // The low half counts works that run. Above it are those that wait, and the bit of the rest.
    typename Sync::template Atomic<std::uint64_t> state_{0};
};

} // namespace sessionq::dispatch
