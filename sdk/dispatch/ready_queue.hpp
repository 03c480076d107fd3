#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

#include "core/mpsc_queue.hpp"
#include "dispatch/call.hpp"

namespace sessionq::dispatch {

/// Lanes that have a call to start, first come first served, and the count of active calls under
/// the cap over all lanes (R7, R14).
///
/// Home threads `inject` lock-free; workers `step` under one small lock, which also moves what was
/// injected into the list.
template <typename Sync>
class BasicReadyQueue {
public:
    using Lane = BasicLane<Sync>;
    using Wake = std::function<void(std::size_t work)>;

    /// `max_calls` zero: no cap.
    explicit BasicReadyQueue(unsigned max_calls) noexcept : max_calls_{max_calls} {}

    /// Lanes still queued here were given up by their owners.
    ~BasicReadyQueue() {
        collect();
        while (front_ != nullptr) {
            delete pop_front();
        }
    }
    BasicReadyQueue(const BasicReadyQueue&) = delete;
    BasicReadyQueue& operator=(const BasicReadyQueue&) = delete;

    /// Set once, before the first lane is queued. Called from any thread, without a lock held, with
    /// how much work is ready beyond what its caller takes.
    void set_wake(Wake wake) { wake_ = std::move(wake); }

    /// The lane joins the end. Any thread; lock-free; wakes nobody.
    void inject(Lane& lane) noexcept {
        core::MpscNode& node = lane;
        core::MpscNode* top = incoming_.load(std::memory_order_relaxed);
        do {
            node.mpsc_next.store(top, std::memory_order_relaxed);
        } while (!incoming_.compare_exchange_weak(top, &node, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed));
        incoming_count_.store(incoming_count_.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
    }

    /// After a batch of `inject`: wakes whoever can take it. What a worker has collected already is
    /// that worker's to hand on.
    void flush() {
        if (incoming_.load(std::memory_order_relaxed) != nullptr) {
            wake(std::max<std::size_t>(incoming_count_.load(std::memory_order_relaxed), 1));
        }
    }

    /// A worker's step. In this order: `ended` calls leave the count, `back` joins the end, and
    /// with `take` the front lane leaves the queue with one call counted for it. Null: no lane is
    /// ready, or the cap is reached.
    Lane* step(unsigned ended, Lane* back, bool take) {
        Lane* front = nullptr;
        std::size_t more = 0;
        {
            const std::lock_guard guard{lock_};
            active_ -= ended;
            note_cap();
            if (incoming_.load(std::memory_order_relaxed) != nullptr) {
                collect();
            }
            if (back != nullptr) {
                back->mpsc_next.store(nullptr, std::memory_order_relaxed);
                append(*back, *back, 1);
            }
            if (take && startable() > 0) {
                front = pop_front();
                ++active_;
            }
            more = startable();
        }
        if (more > 0) {
            wake(more);
        }
        return front;
    }

    /// Whether `step` would find a lane. A worker asks after it announced its sleep: the
    /// unconditional exchange in `collect` orders this against `flush`, so that either the lane is
    /// seen here or the sleeper is seen there.
    [[nodiscard]] bool has_work() {
        const std::lock_guard guard{lock_};
        collect();
        return startable() > 0;
    }

    void set_max_calls(unsigned max_calls) {
        {
            const std::lock_guard guard{lock_};
            max_calls_ = max_calls;
            note_cap();
        }
        step(0, nullptr, false);
    }

    /// More calls are active than the cap, which was lowered: a turn ends with its call, so that
    /// their number goes down.
    [[nodiscard]] bool over_cap() const noexcept {
        return over_cap_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::size_t ready_lanes() {
        const std::lock_guard guard{lock_};
        collect();
        return listed_;
    }

    [[nodiscard]] unsigned active_calls() {
        const std::lock_guard guard{lock_};
        return active_;
    }

private:
    void wake(std::size_t work) {
        if (wake_) {
            wake_(work);
        }
    }

    void note_cap() noexcept {
        const bool over = max_calls_ != 0 && active_ > max_calls_;
        if (over != over_cap_.load(std::memory_order_relaxed)) {
            over_cap_.store(over, std::memory_order_relaxed);
        }
    }

    /// How many lanes may leave now.
    [[nodiscard]] std::size_t startable() const noexcept {
        if (max_calls_ == 0) {
            return listed_;
        }
        return active_ < max_calls_ ? std::min<std::size_t>(listed_, max_calls_ - active_) : 0;
    }

    /// Moves what was injected behind what is listed, oldest first.
    void collect() noexcept {
        core::MpscNode* const newest = incoming_.exchange(nullptr, std::memory_order_acq_rel);
        if (newest == nullptr) {
            return;
        }
        incoming_count_.store(0, std::memory_order_relaxed);
        core::MpscNode* oldest = nullptr;
        std::size_t count = 0;
        for (core::MpscNode* node = newest; node != nullptr; ++count) {
            core::MpscNode* const older = node->mpsc_next.load(std::memory_order_relaxed);
            node->mpsc_next.store(oldest, std::memory_order_relaxed);
            oldest = node;
            node = older;
        }
        append(*oldest, *newest, count);
    }

    void append(core::MpscNode& first, core::MpscNode& last, std::size_t count) noexcept {
        if (front_ == nullptr) {
            front_ = &first;
        } else {
            back_->mpsc_next.store(&first, std::memory_order_relaxed);
        }
        back_ = &last;
        listed_ += count;
    }

    Lane* pop_front() noexcept {
        core::MpscNode* const node = front_;
        front_ = node->mpsc_next.load(std::memory_order_relaxed);
        --listed_;
        return static_cast<Lane*>(node);
    }

    // Written by home threads.
    alignas(64) typename Sync::template Atomic<core::MpscNode*> incoming_{nullptr}; // newest first
    std::atomic<std::size_t> incoming_count_{
        0}; // about how many to wake for; home threads that collide lose a count, never whether there is one

    // Guarded by lock_.
    alignas(64) typename Sync::Lock lock_;
    std::atomic<bool> over_cap_{false}; // written seldom, read without the lock
    unsigned active_{0};
    unsigned max_calls_;
    std::size_t listed_{0};
    core::MpscNode* front_{nullptr}; // linked to back_
    core::MpscNode* back_{nullptr};  // of no meaning while front_ is null

    Wake wake_;
};

} // namespace sessionq::dispatch
