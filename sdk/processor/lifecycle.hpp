// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <sessionq/processor_report.hpp>

namespace sessionq::processor {

/// Decides when a processor runs, pauses, and has stopped, by what the application asks and what
/// its shards tell. Not thread-safe.
class Lifecycle {
public:
    using State = ProcessorDescription::State;

    explicit Lifecycle(std::size_t shards) noexcept : stopping_{shards}, present_{shards} {}

    /// Whether it may start: once, and not after `stop`.
    [[nodiscard]] bool start() noexcept { return change(State::created, State::running); }

    /// Whether the shards must pause. Not if they do, or if it does not run.
    [[nodiscard]] bool pause() noexcept { return change(State::running, State::paused); }

    /// Whether the shards must resume.
    [[nodiscard]] bool resume() noexcept { return change(State::paused, State::running); }

    /// It was started, and nobody asked it to stop.
    [[nodiscard]] bool is_in_use() const noexcept {
        return state_ == State::running || state_ == State::paused;
    }

    /// No handler is left: the loops let go of the processor in one of their next turns.
    [[nodiscard]] bool ends_soon() const noexcept {
        return state_ == State::stopped && report_.complete;
    }

    /// Whether the shards must stop first. Else `report` says how it has stopped.
    [[nodiscard]] bool stop() noexcept {
        if (state_ == State::created) {
            state_ = State::stopped;
        } else if (is_in_use()) {
            state_ = State::stopping;
        }
        return state_ == State::stopping;
    }

    /// Whether it was the last one.
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
    /// Whether it was the last one.
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

} // namespace sessionq::processor
