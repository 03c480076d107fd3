// SPDX-License-Identifier: MIT
#include "dispatch/work_loop.hpp"

#include <exception>
#include <memory>
#include <utility>

#include <sessionq/operation_context.hpp>

#include "core/log.hpp"
#include "dispatch/turn_instant.hpp"

namespace sessionq::dispatch {

WorkerMark& this_worker() noexcept {
    constinit thread_local WorkerMark mark{};
    return mark;
}

std::size_t wakes_for_lanes(const void* workers, std::size_t lanes) noexcept {
    const WorkerMark& here = this_worker();
    return here.in_task && here.workers == workers ? lanes - 1 : lanes;
}

bool WorkLoop::run_tasks() {
    if (tasks.size() == 0) {
        return false;
    }
    const TimePoint began = clock.coarse_now();
    unsigned count = 0;
    do {
        const std::unique_ptr<TaskQueue::Entry> entry = tasks.pop();
        if (!entry) {
            break;
        }
        // This worker may have been woken for a lane. Another one takes that, because a task may
        // last long.
        const std::size_t for_lane = count == 0 && dispatcher.has_work() ? 1 : 0;
        if (const std::size_t more = tasks.size() + for_lane; more > 0) {
            wake(more);
        }
        ++count;
        this_worker().in_task = true;
        try {
            const OperationContext::Scope scope{std::move(entry->context)};
            entry->task();
            entry->task = {}; // destroy its captures under its context too
        } catch (const std::exception& error) {
            core::log(LogLevel::error, "dispatch", "a task threw: ", error.what());
        } catch (...) {
            core::log(LogLevel::error, "dispatch",
                      "a task threw an exception that is not a std::exception");
        }
        this_worker().in_task = false;
    } while (count < dispatcher.options().quantum_calls &&
             !stopping.load(std::memory_order_relaxed) &&
             clock.coarse_now() - began < dispatcher.options().quantum_time);
    return count > 0;
}

bool WorkLoop::run_calls(Dispatcher::Turn& turn, TimePoint until) {
    TurnInstant::begin();
    Call* call = dispatcher.take(turn, clock.coarse_now());
    if (call == nullptr) {
        return false;
    }
    while (call != nullptr) {
        TurnInstant::next();
        const Verdict verdict = call->run();
        if (stopping.load(std::memory_order_relaxed)) {
            dispatcher.finish_last(turn, verdict);
            return true;
        }
        const TimePoint now = clock.coarse_now();
        call = tasks.size() > 0 || now >= until ? dispatcher.finish_in_turn(turn, verdict, now)
                                                : dispatcher.finish(turn, verdict, now);
    }
    return true;
}

} // namespace sessionq::dispatch
