// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include <sessionq/time.hpp>

#include "dispatch/call.hpp"
#include "dispatch/lane.hpp"
#include "dispatch/ready_queue.hpp"
#include "dispatch/thread_sync.hpp"

namespace sessionq::dispatch {

/// How workers are shared among lanes.
struct DispatchOptions {
    /// The maximum number of active calls over all lanes, including suspended ones (R7). Zero: no
    /// cap.
    unsigned max_calls{0};
    /// The maximum number of calls in one turn of a lane (R14). At least 1.
    unsigned quantum_calls{16};
    /// How long a turn may start further calls. Zero: one call a turn.
    Duration quantum_time{std::chrono::milliseconds{5}};
};

/// Decides which call runs next. It is passive: it has no threads and reads no clock. A
/// `WorkerPool` or the simulation's workers drive it.
///
/// R14: lanes get turns in the order in which they became ready. A turn ends after a quantum of
/// calls or of time, and a lane with more work goes to the back. Therefore a ready lane waits for
/// at most one quantum of every lane ahead of it.
///
/// A cheap handle. Copies share one state, which lives as long as any copy or lane. Thread-safe.
template <typename Sync>
class BasicDispatcher {
public:
    using Lane = BasicLane<Sync>;
    using LanePtr = BasicLanePtr<Sync>;
    using Options = DispatchOptions;

    /// A worker's state between its steps. Each worker has one and reuses it.
    class Turn {
        friend class BasicDispatcher;

        // Not read after a call was suspended, because the lane may be gone.
        Lane* lane_{nullptr};
        unsigned calls_{0};
        TimePoint began_{};
    };

    /// Throws `invalid_option`, naming the member.
    explicit BasicDispatcher(Options options = {})
        : options_{checked(options)}, queue_{std::make_shared<Queue>(options.max_calls)} {}

    /// Makes a lane that runs at most `max_calls` calls at a time, at least 1. The calling thread
    /// becomes the lane's home thread.
    [[nodiscard]] LanePtr make_lane(unsigned max_calls, bool in_order = false) {
        return LanePtr{new Lane{*queue_, max_calls, in_order}, RetireLane<Sync>{queue_}};
    }

    /// Returns the next call for this worker and counts it as active. Null: no lane is ready, or
    /// the cap is reached.
    [[nodiscard]] Call* take(Turn& turn, TimePoint now) {
        return begin(turn, now, queue_->step(0, nullptr, true));
    }

    /// From within `run` of each call of a lane in order, unless it calls `skip`: its handler is
    /// about to start, and the next call may be taken. False: the lane was paused or put on hold
    /// after this one was taken. Then its handler must not start, and `skip` follows.
    [[nodiscard]] bool begin(Lane& lane, Call& call) {
        if (!call.starting) {
            return true;
        }
        const typename Lane::Step step = lane.begin(call);
        if (step.queue) {
            queue_->step(0, &lane, false);
        }
        return step.call != nullptr;
    }

    /// Its handler will not start. The next call may be taken, unless the lane is on hold.
    void skip(Lane& lane, Call& call) {
        if (call.starting && lane.skip(call)) {
            queue_->step(0, &lane, false);
        }
    }

    /// Reports that the call of this turn returned from `run`, and returns the next one. It comes
    /// from the same lane while the quantum lasts, otherwise from the lane at the front.
    [[nodiscard]] Call* finish(Turn& turn, Verdict verdict, TimePoint now) {
        const After after = end_call(turn, verdict, now, true);
        return after.call != nullptr
                   ? after.call
                   : begin(turn, now, queue_->step(after.ended, after.back, true));
    }

    /// Like `finish`, but returns null when the turn is over: for a worker that has other work
    /// between turns.
    [[nodiscard]] Call* finish_in_turn(Turn& turn, Verdict verdict, TimePoint now) {
        const After after = end_call(turn, verdict, now, true);
        if (after.call == nullptr) {
            queue_->step(after.ended, after.back, false);
        }
        return after.call;
    }

    /// Like `finish`, but starts no call: for a worker that stops.
    void finish_last(Turn& turn, Verdict verdict) {
        const After after = end_call(turn, verdict, turn.began_, false);
        queue_->step(after.ended, after.back, false);
    }

    /// Reports the end of a suspended call. Any thread, even before the worker has reported the
    /// suspension. The lane lives while the call is active. Do not touch the lane afterwards unless
    /// you own it.
    void finish_suspended(Lane& lane) {
        const typename Lane::Step step = lane.finish(false);
        Lane* back = requeue_or_delete(lane, step);
        queue_->step(1, back, false);
    }

    /// Changes the cap. Zero: no cap. Applies to the next start, and wakes workers if more calls
    /// may run. Any thread.
    void set_max_calls(unsigned max_calls) { queue_->set_max_calls(max_calls); }

    /// Wakes as many sleeping workers as there is work for. Call it after a batch of pushes. Makes
    /// no system call if no worker sleeps or no lane became ready. Any thread.
    void flush() { queue_->flush(); }

    /// Sets the function that wakes workers. Call it once, before the first push. `wake` runs on
    /// any thread and never under a lock. It gets an upper bound of how many workers could find
    /// work now. An empty function wakes nobody.
    void set_wake(std::function<void(std::size_t work)> wake) { queue_->set_wake(std::move(wake)); }

    /// Whether `take` would find a call. For a worker that has announced its sleep. A ready lane
    /// counts even if it turns out to be paused or empty.
    [[nodiscard]] bool has_work() { return queue_->has_work(); }

    [[nodiscard]] const Options& options() const noexcept { return options_; }
    [[nodiscard]] std::size_t ready_lanes() const { return queue_->ready_lanes(); }
    [[nodiscard]] unsigned active_calls() const { return queue_->active_calls(); }

private:
    using Queue = BasicReadyQueue<Sync>;

    struct After {
        Call* call{nullptr};
        unsigned ended{0};
        Lane* back{nullptr};
    };

    static Options checked(Options options) {
        if (options.quantum_calls == 0) {
            throw Error{Errc::invalid_option, "quantum_calls is 0"};
        }
        if (options.quantum_time < Duration::zero()) {
            throw Error{Errc::invalid_option, "quantum_time is negative"};
        }
        return options;
    }

    /// Starts a turn on `lane`, which has left the queue with one call counted. Continues with the
    /// next lane if this one has nothing to start.
    Call* begin(Turn& turn, TimePoint now, Lane* lane) {
        while (lane != nullptr) {
            const typename Lane::Step step = lane->visit();
            Lane* back = requeue_or_delete(*lane, step);
            if (step.call != nullptr) {
                // The lane allows several calls at a time, so other workers may join while this one
                // runs.
                if (back != nullptr) {
                    queue_->step(0, back, false);
                }
                turn.lane_ = lane;
                turn.calls_ = 0;
                turn.began_ = now;
                return step.call;
            }
            lane = queue_->step(1, back, true);
        }
        turn.lane_ = nullptr;
        return nullptr;
    }

    After end_call(Turn& turn, Verdict verdict, TimePoint now, bool go_on) {
        if (verdict == Verdict::suspended) {
            return {};
        }
        const bool in_quantum = ++turn.calls_ < options_.quantum_calls &&
                                now - turn.began_ < options_.quantum_time && !queue_->over_cap();
        const typename Lane::Step step = turn.lane_->finish(go_on && in_quantum);
        Lane* back = requeue_or_delete(*turn.lane_, step);
        if (step.call == nullptr) {
            return {nullptr, 1, back};
        }
        if (back != nullptr) {
            queue_->step(0, back, false);
        }
        return {step.call, 0, nullptr};
    }

    /// Returns the lane if it must be queued again. Deletes it if it is dead.
    static Lane* requeue_or_delete(Lane& lane, const typename Lane::Step& step) noexcept {
        if (step.dead) {
            delete &lane;
        }
        return step.queue ? &lane : nullptr;
    }

    Options options_;
    std::shared_ptr<Queue> queue_;
};

extern template class BasicReadyQueue<ThreadSync>;
extern template class BasicLane<ThreadSync>;
extern template class BasicDispatcher<ThreadSync>;

using Dispatcher = BasicDispatcher<ThreadSync>;
using LanePtr = BasicLanePtr<ThreadSync>;

} // namespace sessionq::dispatch
