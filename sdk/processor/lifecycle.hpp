// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <sessionq/processor_report.hpp>

namespace sessionq::detail::processor {

/// Decides whether a processor runs, pauses, stops or has stopped. `Processor` asks it when the
/// application calls `start`, `pause`, `resume` or `stop`, and tells it when a shard has stopped or
/// is gone. Not thread-safe: `Processor` holds its mutex.
class Lifecycle {
public:
    using State = ProcessorState;

    explicit Lifecycle(std::size_t shards) noexcept : stopping_{shards}, present_{shards} {}

    /// Returns whether the processor may start: only once, and not after `stop`.
    [[nodiscard]] bool start() noexcept { return change(State::created, State::running); }

    /// Returns whether the shards must pause. False if they are paused already, or if the processor
    /// does not run.
    [[nodiscard]] bool pause() noexcept { return change(State::running, State::paused); }

    /// Returns whether the shards must resume.
    [[nodiscard]] bool resume() noexcept { return change(State::paused, State::running); }

    /// The processor was started, and nobody asked it to stop.
    [[nodiscard]] bool is_in_use() const noexcept {
        return state_ == State::running || state_ == State::paused;
    }

    /// Whether the processor has stopped and no handler is left. The loops drop such a processor in
    /// one of their next turns.
    [[nodiscard]] bool ends_soon() const noexcept {
        return state_ == State::stopped && report_.complete;
    }

    /// Asks the processor to stop. Returns whether the shards must stop first. If they need not,
    /// `report` says how the processor has stopped.
    [[nodiscard]] bool stop() noexcept {
        if (state_ == State::created) {
            state_ = State::stopped;
        } else if (is_in_use()) {
            state_ = State::stopping;
        }
        return state_ == State::stopping;
    }

    /// A shard has stopped. Returns whether it was the last one.
    [[nodiscard]] bool shard_stopped(const StopReport& report) noexcept {
        report_.complete = report_.complete && report.complete;
        report_.drained += report.drained;
        report_.released += report.released;
        report_.cancelled += report.cancelled;
        report_.left += report.left;
        report_.sessions += report.sessions;
        if (--stopping_ == 0) {
            state_ = State::stopped;
        }
        return stopping_ == 0;
    }
    /// The last handler of a shard has returned. Returns whether it was the last shard.
    [[nodiscard]] bool shard_gone() noexcept { return --present_ == 0; }

    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] const StopReport& report() const noexcept { return report_; }

private:
    [[nodiscard]] bool change(State from, State to) noexcept {
        if (state_ != from) {
            return false;
        }
        state_ = to;
        return true;
    }

    State state_{State::created};
    std::size_t stopping_;
    std::size_t present_;
    StopReport report_{.complete = true};
};

} // namespace sessionq::detail::processor
