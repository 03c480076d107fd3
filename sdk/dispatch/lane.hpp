// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include <sessionq/error.hpp>

#include "core/intrusive_list.hpp"
#include "core/mpsc_queue.hpp"
#include "dispatch/call.hpp"
#include "dispatch/ready_queue.hpp"

namespace sessionq::dispatch {

/// The ordered queue of one session's calls. At most `max_calls` of them are active at a time; with
/// one, they run strictly one after another (R6, R7). Made by `Dispatcher::make_lane`.
///
/// A lane *in order* also starts its calls one after another where several may be active: once a
/// call was taken, no other one is taken before `Dispatcher::begin` tells that its handler starts,
/// or that it does not.
///
/// The *home thread* is the receive thread that owns the lane. Only it may push, take back, pause
/// and resume. Pushing is lock-free and allocates nothing.
///
/// Exactly one party holds the lane's *turn token*, so a lane is never forgotten and never queued
/// twice:
/// - idle: the inbox holds `idle_mark`. The push that replaces the mark gets the token and queues
///   the lane.
/// - queued: the ready queue holds it, or the worker that took the lane and is about to visit it.
/// - parked (`parked_`): the lane may start nothing, because it is paused, on hold, or has
///   `max_calls` active calls. The thread that changes this takes the token.
///
/// Everything except a push happens under the lane's lock.
template <typename Sync>
class alignas(64) BasicLane final : public core::MpscNode {
public:
    using Queue = BasicReadyQueue<Sync>;

    BasicLane(Queue& queue, unsigned max_calls, bool in_order)
        : queue_{&queue}, in_order_{in_order}, max_calls_{checked(max_calls)} {}
    ~BasicLane() = default;

    /// Appends a call. Home thread. Makes the lane ready but wakes no worker: see
    /// `Dispatcher::flush`.
    void push(Call& call) noexcept {
        count_pushed(1);
        call.place = pushed_.load(std::memory_order_relaxed);
        core::MpscNode& node = call;
        core::MpscNode* top = inbox_.load(std::memory_order_relaxed);
        do {
            node.mpsc_next.store(top == idle() ? nullptr : top, std::memory_order_relaxed);
        } while (!inbox_.compare_exchange_weak(top, &node, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
        if (top == idle()) {
            queue_->inject(*this);
        }
    }

    /// Puts a call that was taken back in its place, before all that were pushed after it. Home
    /// thread, while the lane is paused or on hold. It steps over the calls that were put back and
    /// stand before it.
    void put_back(Call& call) noexcept {
        const std::lock_guard guard{lock_};
        leave_idle();
        count_pushed(1);
        core::MpscNode* before = nullptr;
        core::MpscNode* after = waiting_;
        while (after != nullptr && static_cast<Call*>(after)->place < call.place) {
            before = after;
            after = after->mpsc_next.load(std::memory_order_relaxed);
        }
        core::MpscNode& node = call;
        node.mpsc_next.store(after, std::memory_order_relaxed);
        if (before == nullptr) {
            waiting_ = &node;
        } else {
            before->mpsc_next.store(&node, std::memory_order_relaxed);
        }
    }

    /// No call starts after this returns, until `resume`. Active calls continue. Home thread. No
    /// effect if the lane is paused already.
    void pause() noexcept {
        const std::lock_guard guard{lock_};
        paused_ = true;
    }

    /// Ends the pause, but not a hold. Home thread. Wakes workers as `Dispatcher::flush` does.
    void resume() noexcept {
        change([this] { paused_ = false; });
    }

    /// Ends one hold. Call it exactly once for each hold that a call added. Home thread. Wakes
    /// workers as `Dispatcher::flush` does.
    void release() noexcept {
        change([this] { --holds_; });
    }

    /// Removes all calls that have not started and appends them to `out` in order. Home thread, in
    /// any state. Returns their number.
    std::size_t take_back(core::IntrusiveList<Call, dispatch::Lane>& out) noexcept {
        const std::lock_guard guard{lock_};
        std::size_t count = 0;
        while (refill()) {
            out.push_back(pop());
            ++count;
        }
        return count;
    }

    /// Changes how many calls may be active at a time. Throws `invalid_argument` for 0. Applies to
    /// the next start. Any thread.
    void set_max_calls(unsigned max_calls) {
        change([this, max_calls = checked(max_calls)] { max_calls_ = max_calls; });
    }

    /// The number of calls that have started and are not reported as finished, including suspended
    /// ones. A finished call counts until its worker reports it. Any thread.
    [[nodiscard]] unsigned active() const noexcept {
        return active_.load(std::memory_order_relaxed);
    }

    /// The number of calls that have not started. Exact on the home thread while the lane is
    /// paused.
    [[nodiscard]] std::size_t waiting() const noexcept {
        return pushed_.load(std::memory_order_relaxed) - popped_.load(std::memory_order_relaxed);
    }

    // For the active call that asks, on any thread. It counts as one call, however many it takes.

    /// Removes waiting calls from the front as long as `joins` returns true for the next one: the
    /// caller runs them as a part of its own. None while the lane is paused or on hold. `joins`
    /// runs under the lane's lock.
    template <typename Joins>
    void take_more(Joins joins) {
        const std::lock_guard guard{lock_};
        while (!paused_ && holds_ == 0 && refill() && joins(front())) {
            static_cast<void>(pop());
        }
    }

    /// Adds `count` holds: no further call starts until each is released. Before the home thread
    /// can learn of them, so that no release comes first.
    void hold(unsigned count) noexcept {
        const std::lock_guard guard{lock_};
        holds_ += count;
    }

    // The rest of the interface is for the dispatcher.

    /// The duty of a worker after a step on the lane.
    struct Step {
        Call* call{nullptr}; ///< run this call
        bool queue{false};   ///< put the lane into the ready queue; the caller holds the token
        bool dead{false};    ///< delete the lane: its owner gave it up and nothing refers to it
    };

    /// A worker took the lane from the ready queue, and the token with it.
    [[nodiscard]] Step visit() noexcept {
        const std::lock_guard guard{lock_};
        parked_ = true;
        Step step;
        if (may_start() && refill()) {
            step.call = start();
        }
        step.queue = unpark();
        step.dead = is_dead();
        return step;
    }

    /// The handler of a call that is `starting` is about to start. Without a call in the step it
    /// must not: the lane was paused or put on hold after it was taken. `skip` follows then.
    [[nodiscard]] Step begin(Call& call) noexcept {
        const std::lock_guard guard{lock_};
        Step step;
        if (!paused_ && holds_ == 0) {
            step.call = &call;
            step.queue = end_start(call);
        }
        return step;
    }

    /// The handler of a call that is `starting` will not start. Returns whether to queue the lane.
    [[nodiscard]] bool skip(Call& call) noexcept {
        const std::lock_guard guard{lock_};
        return end_start(call);
    }

    /// Reports that an active call finished. With `go_on`, starts the next call if the lane may.
    [[nodiscard]] Step finish(bool go_on) noexcept {
        const std::lock_guard guard{lock_};
        add_active(-1);
        Step step;
        if (go_on && may_start() && refill()) {
            step.call = start();
        }
        step.queue = unpark();
        step.dead = is_dead();
        return step;
    }

    /// The owner gives up the lane: no further call starts and waiting calls are forgotten. If it
    /// returns true, the caller deletes the lane. Otherwise the last user of the lane deletes it.
    [[nodiscard]] bool retire() noexcept {
        const std::lock_guard guard{lock_};
        leave_idle();
        retired_ = paused_ = true;
        return is_dead();
    }

private:
    static unsigned checked(unsigned max_calls) {
        if (max_calls == 0) {
            throw Error{Errc::invalid_argument, "max_calls of a lane is 0"};
        }
        return max_calls;
    }

    static core::MpscNode* idle() noexcept { return &idle_mark; }

    [[nodiscard]] bool may_start() const noexcept {
        return !paused_ && holds_ == 0 && !starting_ && active() < max_calls_;
    }

    [[nodiscard]] bool is_dead() const noexcept { return retired_ && parked_ && active() == 0; }

    /// Applies a change that may allow calls to start, and queues the lane if it does.
    template <typename Change>
    void change(Change apply) {
        bool queue = false;
        {
            const std::lock_guard guard{lock_};
            apply();
            queue = unpark();
        }
        if (queue) {
            queue_->inject(*this);
            queue_->flush();
        }
    }

    /// Passes the token on if the lane holds it and calls may start. Returns true if calls wait:
    /// the caller must put the lane into the ready queue. Otherwise the lane becomes idle.
    [[nodiscard]] bool unpark() noexcept {
        if (!parked_ || !may_start()) {
            return false;
        }
        parked_ = false;
        core::MpscNode* empty = nullptr;
        return refill() || !inbox_.compare_exchange_strong(empty, idle(), std::memory_order_acq_rel,
                                                           std::memory_order_relaxed);
    }

    /// Takes the token from an idle lane. Home thread, so that no push competes for it.
    void leave_idle() noexcept {
        if (inbox_.load(std::memory_order_relaxed) == idle()) {
            inbox_.store(nullptr, std::memory_order_relaxed);
            parked_ = true;
        }
    }

    /// Whether a call waits. Fetches calls from the inbox once the older ones are used up.
    [[nodiscard]] bool refill() noexcept {
        if (waiting_ != nullptr) {
            return true;
        }
        core::MpscNode* top = inbox_.load(std::memory_order_relaxed);
        if (top == nullptr || top == idle()) {
            return false;
        }
        top = inbox_.exchange(nullptr, std::memory_order_acq_rel);
        while (top != nullptr) {
            core::MpscNode* older = top->mpsc_next.load(std::memory_order_relaxed);
            top->mpsc_next.store(waiting_, std::memory_order_relaxed);
            waiting_ = top;
            top = older;
        }
        return waiting_ != nullptr;
    }

    [[nodiscard]] Call& front() const noexcept { return *static_cast<Call*>(waiting_); }

    Call& pop() noexcept {
        Call& first = front();
        const core::MpscNode& node = first;
        waiting_ = node.mpsc_next.load(std::memory_order_relaxed);
        popped_.store(popped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return first;
    }

    [[nodiscard]] bool end_start(Call& call) noexcept {
        call.starting = starting_ = false;
        return unpark();
    }

    Call* start() noexcept {
        add_active(1);
        Call& call = pop();
        call.starting = starting_ = in_order_ && max_calls_ > 1; // one alone is in order anyway
        return &call;
    }

    void add_active(int change) noexcept {
        active_.store(active_.load(std::memory_order_relaxed) + static_cast<unsigned>(change),
                      std::memory_order_relaxed);
    }
    void count_pushed(std::size_t count) noexcept {
        pushed_.store(pushed_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }

    static inline core::MpscNode idle_mark;

    // The home thread writes these and the link in the ready queue.
    typename Sync::template Atomic<core::MpscNode*> inbox_{&idle_mark}; // newest first
    std::atomic<std::size_t> pushed_{0};
    Queue* queue_;
    const bool in_order_;

    // Written under lock_.
    alignas(64) typename Sync::Lock lock_;
    bool parked_{false};
    bool paused_{false};
    bool retired_{false};
    bool starting_{false}; // a call was taken, and `begin` is awaited
    unsigned holds_{0};
    unsigned max_calls_; // at least 1
    std::atomic<unsigned> active_{0};
    core::MpscNode* waiting_{nullptr}; // oldest first, all older than the inbox
    std::atomic<std::size_t> popped_{0};
};

/// Gives up a lane. Holds the ready queue for as long as the lane may need it.
template <typename Sync>
struct RetireLane {
    std::shared_ptr<BasicReadyQueue<Sync>> queue;

    void operator()(BasicLane<Sync>* lane) const noexcept {
        if (lane->retire()) {
            delete lane;
        }
    }
};

/// The home thread's ownership of a lane. Dropping it forgets the waiting calls (take them back
/// first). Active calls may still finish.
template <typename Sync>
using BasicLanePtr = std::unique_ptr<BasicLane<Sync>, RetireLane<Sync>>;

} // namespace sessionq::dispatch
