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

/// How calls are shared out.
struct DispatchOptions {
    unsigned max_calls{
        0}; ///< Calls active at a time over all lanes, suspended ones included (R7). 0: no cap.
    unsigned quantum_calls{
        16}; ///< A lane keeps a worker for at most so many calls (R14). At least 1.
    Duration quantum_time{std::chrono::milliseconds{
        5}}; ///< And starts no further call after so long. 0: one call a turn.
};

/// Decides which call runs next: passive, without threads or a clock, stepped by a `WorkerPool` or
/// by a simulation's workers.
///
/// R14: lanes get their turns in the order in which they became ready; a turn ends after a quantum
/// of calls or of time, and a lane with more to do goes to the back. So a ready lane waits at most
/// one quantum of every lane ahead.
///
/// A cheap handle: copies share everything, which lives as long as a copy or a lane does.
/// Thread-safe.
template <typename Sync>
class BasicDispatcher {
public:
    using Lane = BasicLane<Sync>;
    using LanePtr = BasicLanePtr<Sync>;
    using Options = DispatchOptions;

    /// What a worker keeps between its steps. One a worker, reused.
    class Turn {
        friend class BasicDispatcher;

        Lane* lane_{nullptr}; // not touched after a call was suspended: it may be gone
        unsigned calls_{0};
        TimePoint began_{};
    };

    /// Throws `invalid_option` naming the member.
    explicit BasicDispatcher(Options options = {})
        : options_{checked(options)}, queue_{std::make_shared<Queue>(options.max_calls)} {}

    /// `max_calls` at least 1. The caller's thread becomes the lane's home.
    [[nodiscard]] LanePtr make_lane(unsigned max_calls) {
        return LanePtr{new Lane{*queue_, max_calls}, RetireLane<Sync>{queue_}};
    }

    /// The next call this worker shall run, counted as active; null: none is ready, or the cap is
    /// reached.
    [[nodiscard]] Call* take(Turn& turn, TimePoint now) {
        return begin(turn, now, queue_->step(0, nullptr, true));
    }

    /// The call of this turn returned from `run`. The next one: of the same lane while its quantum
    /// lasts, else of the lane at the front.
    [[nodiscard]] Call* finish(Turn& turn, Verdict verdict, TimePoint now) {
        const After after = end_call(turn, verdict, now, true);
        return after.call != nullptr
                   ? after.call
                   : begin(turn, now, queue_->step(after.ended, after.back, true));
    }

    /// Like `finish`, but null when the turn is over: for a worker that has something else to do
    /// between turns.
    [[nodiscard]] Call* finish_in_turn(Turn& turn, Verdict verdict, TimePoint now) {
        const After after = end_call(turn, verdict, now, true);
        if (after.call == nullptr) {
            queue_->step(after.ended, after.back, false);
        }
        return after.call;
    }

    /// Like `finish`, but starts nothing: for a worker that stops.
    void finish_last(Turn& turn, Verdict verdict) {
        const After after = end_call(turn, verdict, turn.began_, false);
        queue_->step(after.ended, after.back, false);
    }

    /// A call that said `suspended` has ended, with `proceed` or `hold`. Any thread, also before
    /// the worker reported the suspension. The lane is alive as long as the call is active; do not
    /// touch it afterwards unless it is yours.
    void finish_suspended(Lane& lane, Verdict verdict) {
        const typename Lane::Step step = lane.finish(verdict, false);
        Lane* back = settle(lane, step);
        queue_->step(1, back, false);
    }

    /// 0: no cap. Holds for the next start; wakes workers if there is room for more. Any thread.
    void set_max_calls(unsigned max_calls) { queue_->set_max_calls(max_calls); }

    /// After a batch of pushes: wakes as many sleeping workers as there is work for; no system call
    /// when none sleeps or no lane became ready. Any thread.
    void flush() { queue_->flush(); }

    /// How workers are woken. Set once, before the first push; called from any thread, never under
    /// a lock, with an upper bound of how many could find work now. An empty function wakes nobody.
    void set_wake(std::function<void(std::size_t work)> wake) { queue_->set_wake(std::move(wake)); }

    /// Whether `take` would find a call, asked by a worker that has announced its sleep. A lane
    /// that turns out paused or empty counts too.
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

    /// Starts a turn on `lane`, which left the queue with a call counted; goes on to the next lane
    /// when this one has nothing to start.
    Call* begin(Turn& turn, TimePoint now, Lane* lane) {
        while (lane != nullptr) {
            const typename Lane::Step step = lane->visit();
            Lane* back = settle(*lane, step);
            if (step.call != nullptr) {
                if (back !=
                    nullptr) { // more than one call at a time: other workers may join while this one runs
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
        const typename Lane::Step step = turn.lane_->finish(verdict, go_on && in_quantum);
        Lane* back = settle(*turn.lane_, step);
        if (step.call == nullptr) {
            return {nullptr, 1, back};
        }
        if (back != nullptr) {
            queue_->step(0, back, false);
        }
        return {step.call, 0, nullptr};
    }

    /// The lane if it is to be queued; deletes it if it is dead.
    static Lane* settle(Lane& lane, const typename Lane::Step& step) noexcept {
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
