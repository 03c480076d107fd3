// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include <sessionq/time.hpp>

#include "broker/transit.hpp"

namespace sessionq::broker {

/// The messages that leave an entity, in order, and who forwards them. One thread at a time does.
/// It may put down work that takes long. Then the thread that does the due work of the entity goes
/// on.
///
/// Guarded by the entity's lock, except `is_idle`.
class ForwardingLine {
public:
    using Done = std::function<void()>;

    /// Adds messages behind the others. Leaves `leaving` empty.
    void add(std::vector<Transit>& leaving);

    /// Returns true if the caller must forward now: there are messages, and nobody forwards.
    [[nodiscard]] bool begin() noexcept;
    /// The same, if the forwarding was put down.
    [[nodiscard]] bool resume() noexcept;
    /// The one that forwards puts it down until `due`.
    void put_down(TimePoint due) noexcept;

    /// The one that forwards takes all that waits. Nothing: it is done.
    [[nodiscard]] std::vector<Transit> take();
    /// So many of these have arrived or failed. Returns the callbacks that must be told about it.
    [[nodiscard]] std::vector<Done> end(std::size_t count);

    /// A message that was taken and cannot be forwarded yet.
    void hold(Transit transit);
    [[nodiscard]] bool holds_any() const noexcept { return !held_.empty(); }
    /// The held messages wait again, behind the others.
    void release_held();

    /// Has `done` called once all that was added has arrived or failed. Returns false, and never
    /// calls it, if that is so already.
    [[nodiscard]] bool await(Done done);
    /// Nothing is forwarded any more. Returns all that must be told.
    [[nodiscard]] std::vector<Done> give_up();

    /// Nobody forwards, and nothing waits. Thread-safe.
    [[nodiscard]] bool is_idle() const noexcept {
        return state_.load(std::memory_order_acquire) == State::idle;
    }
    /// When somebody must go on; max: nothing was put down.
    [[nodiscard]] TimePoint due() const noexcept { return due_; }

private:
    enum class State : std::uint8_t { idle, forwarding, put_down };

    struct Waiting {
        std::uint64_t until;
        Done done;
    };

    std::atomic<State> state_{State::idle};
    TimePoint due_{TimePoint::max()};
    std::vector<Transit> leaving_{};
    std::vector<Transit> held_{};
    std::uint64_t added_{0}; // messages, so far
    std::uint64_t ended_{0};
    std::deque<Waiting> waiting_{}; // by the number of messages
};

} // namespace sessionq::broker
