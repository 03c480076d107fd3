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

/// One session's ordered queue of calls; at most `max_calls` of them are active at a time, and with
/// one they run strictly one after another (R6, R7). Made by `Dispatcher::make_lane`.
///
/// The *home thread* is the receive thread that owns the lane. It alone may push, take back, pause
/// and resume; pushing is lock-free and allocates nothing.
///
/// How a lane is never forgotten and never queued twice: exactly one party has its *turn token*.
///  - idle: the inbox holds `idle_mark`; the push that replaces the mark gets the token and queues
///  the lane.
///  - queued: the ready queue has it, or the worker that took the lane and is about to visit it.
///  - parked (`parked_`): the lane may start nothing (paused, on hold, or `max_calls` are active).
///  Whoever changes that gets the token.
/// Everything but the push happens under the lane's lock.
template <typename Sync>
class alignas(64) BasicLane final : public core::MpscNode {
public:
    using Queue = BasicReadyQueue<Sync>;

    BasicLane(Queue& queue, unsigned max_calls) : queue_{&queue}, max_calls_{checked(max_calls)} {}
    ~BasicLane() = default;

    /// Appends a call. Home thread. Makes the lane ready and wakes nobody: see `Dispatcher::flush`.
    void push(Call& call) noexcept {
        count_pushed(1);
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

    /// Puts a call before all others: a retry in place. Home thread, while the lane is paused or on
    /// hold.
    void push_front(Call& call) noexcept {
        const std::lock_guard guard{lock_};
        leave_idle();
        count_pushed(1);
        core::MpscNode& node = call;
        node.mpsc_next.store(waiting_, std::memory_order_relaxed);
        waiting_ = &node;
    }

    /// After it returns no further call starts until `resume`; those active go on. Home thread.
    /// Pausing twice is pausing.
    void pause() noexcept {
        const std::lock_guard guard{lock_};
        paused_ = true;
    }

    /// Ends the pause, not a hold. Home thread. Wakes as `Dispatcher::flush` does.
    void resume() noexcept {
        change([this] { paused_ = false; });
    }

    /// Ends one hold: call it exactly once for each call that said `Verdict::hold`. It may come
    /// before the worker has reported the verdict. Home thread. Wakes as `Dispatcher::flush` does.
    void release() noexcept {
        change([this] { --holds_; });
    }

    /// Removes every call not yet started, appending them to `out` in order. Home thread; any
    /// state.
    std::size_t take_back(core::IntrusiveList<Call, dispatch::Lane>& out) noexcept {
        const std::lock_guard guard{lock_};
        std::size_t count = 0;
        while (refill()) {
            out.push_back(pop());
            ++count;
        }
        return count;
    }

    /// How many calls may be active at a time, at least 1 (else throws `invalid_argument`); holds
    /// for the next start. Any thread.
    void set_max_calls(unsigned max_calls) {
        change([this, max_calls = checked(max_calls)] { max_calls_ = max_calls; });
    }

    /// Calls started and not reported as finished, suspended ones included. A call that has said it
    /// is done counts until its worker reports it. Any thread.
    [[nodiscard]] unsigned active() const noexcept {
        return active_.load(std::memory_order_relaxed);
    }

    /// Calls not yet started: exact on the home thread while the lane is paused.
    [[nodiscard]] std::size_t waiting() const noexcept {
        return pushed_.load(std::memory_order_relaxed) - popped_.load(std::memory_order_relaxed);
    }

    // What follows is the dispatcher's.

    /// What a worker does after a step on the lane.
    struct Step {
        Call* call{nullptr}; ///< run it
        bool queue{false};   ///< the caller has the token: put the lane into the ready queue
        bool dead{false};    ///< the owner gave the lane up and nobody else refers to it: delete it
    };

    /// A worker took the lane from the ready queue and with it the token.
    [[nodiscard]] Step visit() noexcept {
        const std::lock_guard guard{lock_};
        parked_ = true;
        Step step;
        if (may_start() && refill()) {
            step.call = start();
        }
        step.queue = hand_on();
        step.dead = is_dead();
        return step;
    }

    /// An active call finished; with `go_on` the next one starts if it may.
    [[nodiscard]] Step finish(Verdict verdict, bool go_on) noexcept {
        const std::lock_guard guard{lock_};
        add_active(-1);
        holds_ += verdict == Verdict::hold ? 1 : 0;
        Step step;
        if (go_on && may_start() && refill()) {
            step.call = start();
        }
        step.queue = hand_on();
        step.dead = is_dead();
        return step;
    }

    /// The owner gives the lane up: nothing starts any more, what waits is forgotten. True: the
    /// caller deletes it. False: the last one who refers to it does.
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
        return !paused_ && holds_ <= 0 && active() < max_calls_;
    }

    [[nodiscard]] bool is_dead() const noexcept { return retired_ && parked_ && active() == 0; }

    /// Applies a change that may let calls start, and queues the lane if it does.
    template <typename Change>
    void change(Change apply) {
        bool queue = false;
        {
            const std::lock_guard guard{lock_};
            apply();
            queue = hand_on();
        }
        if (queue) {
            queue_->inject(*this);
            queue_->flush();
        }
    }

    /// If the token is here and calls may start: on to the ready queue (true, the caller puts it
    /// there), or idle when nothing waits.
    [[nodiscard]] bool hand_on() noexcept {
        if (!parked_ || !may_start()) {
            return false;
        }
        parked_ = false;
        core::MpscNode* empty = nullptr;
        return refill() || !inbox_.compare_exchange_strong(empty, idle(), std::memory_order_acq_rel,
                                                           std::memory_order_relaxed);
    }

    /// Takes the token from an idle lane. Home thread, so that no push can take it at the same
    /// time.
    void leave_idle() noexcept {
        if (inbox_.load(std::memory_order_relaxed) == idle()) {
            inbox_.store(nullptr, std::memory_order_relaxed);
            parked_ = true;
        }
    }

    /// Whether a call waits; fetches from the inbox when the older ones are used up.
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

    Call& pop() noexcept {
        core::MpscNode* node = waiting_;
        waiting_ = node->mpsc_next.load(std::memory_order_relaxed);
        popped_.store(popped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return *static_cast<Call*>(node);
    }

    Call* start() noexcept {
        add_active(1);
        return &pop();
    }

    void add_active(int change) noexcept {
        active_.store(active_.load(std::memory_order_relaxed) + static_cast<unsigned>(change),
                      std::memory_order_relaxed);
    }
    void count_pushed(std::size_t count) noexcept {
        pushed_.store(pushed_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }

    static inline core::MpscNode idle_mark;

    // Written by the home thread, and the link in the ready queue.
    typename Sync::template Atomic<core::MpscNode*> inbox_{&idle_mark}; // newest first
    std::atomic<std::size_t> pushed_{0};
    Queue* queue_;

    // Written under lock_.
    alignas(64) typename Sync::Lock lock_;
    bool parked_{false};
    bool paused_{false};
    bool retired_{false};
    int holds_{0};       // below zero: released before the verdict came
    unsigned max_calls_; // at least 1
    std::atomic<unsigned> active_{0};
    core::MpscNode* waiting_{nullptr}; // oldest first, older than the inbox
    std::atomic<std::size_t> popped_{0};
};

/// Gives a lane up, and keeps the queue alive for as long as it may be needed.
template <typename Sync>
struct RetireLane {
    std::shared_ptr<BasicReadyQueue<Sync>> queue;

    void operator()(BasicLane<Sync>* lane) const noexcept {
        if (lane->retire()) {
            delete lane;
        }
    }
};

/// A lane as its home thread owns it. Dropping it forgets the calls that wait (take them back
/// before); active ones may still finish.
template <typename Sync>
using BasicLanePtr = std::unique_ptr<BasicLane<Sync>, RetireLane<Sync>>;

} // namespace sessionq::dispatch
