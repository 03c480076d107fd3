// SPDX-License-Identifier: MIT
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

/// The lanes that have a call to start, first come first served. Counts active calls against the
/// cap over all lanes (R7, R14).
///
/// Home threads call `inject`, which is lock-free. Workers call `step`, which takes one short lock
/// and also moves injected lanes into the list.
template <typename Sync>
class BasicReadyQueue {
public:
    using Lane = BasicLane<Sync>;
    using Wake = std::function<void(std::size_t work)>;

    /// `max_calls` zero: no cap.
    explicit BasicReadyQueue(unsigned max_calls) noexcept : max_calls_{max_calls} {}

    /// Deletes the lanes that are still queued: their owners have given them up.
    ~BasicReadyQueue() {
        collect();
        while (front_ != nullptr) {
            delete pop_front();
        }
    }
    BasicReadyQueue(const BasicReadyQueue&) = delete;
    BasicReadyQueue& operator=(const BasicReadyQueue&) = delete;

    /// Sets the function that wakes workers. Call it once, before the first lane is queued. `wake`
    /// runs on any thread and under no lock. It gets the amount of ready work beyond the part
    /// that its caller takes.
    void set_wake(Wake wake) { wake_ = std::move(wake); }

    /// Appends the lane. Any thread; lock-free; wakes no worker.
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

    /// Wakes workers for injected lanes. Call it after a batch of `inject`. A worker that
    /// has collected some of them takes one and wakes others for the rest.
    void flush() {
        if (const std::size_t count = incoming(); count > 0) {
            wake(count);
        }
    }

    /// A worker's step, in three parts. `ended` calls leave the count. `back` joins the end. With
    /// `take`, the front lane leaves the queue and one call is counted for it. Returns null if no
    /// lane is ready or the cap is reached.
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
            if (take && startable(listed_) > 0) {
                front = pop_front();
                ++active_;
            }
            more = startable(listed_);
        }
        if (more > 0) {
            wake(more);
        }
        return front;
    }

    /// Whether `step` would find a lane. It takes none, so `flush` still wakes a worker for each. A
    /// worker asks after it has announced its sleep: either this call sees the lane, or `flush`
    /// sees the sleeper, because both write `incoming_`.
    [[nodiscard]] bool has_work() {
        const std::lock_guard guard{lock_};
        core::MpscNode* none = nullptr;
        const bool comes = !incoming_.compare_exchange_strong(
            none, nullptr, std::memory_order_acq_rel, std::memory_order_acquire);
        return startable(listed_ + (comes ? 1 : 0)) > 0;
    }

    void set_max_calls(unsigned max_calls) {
        {
            const std::lock_guard guard{lock_};
            max_calls_ = max_calls;
            note_cap();
        }
        step(0, nullptr, false);
    }

    /// Whether more calls are active than the cap, which was lowered. Each turn then ends with its
    /// current call, so their number falls.
    [[nodiscard]] bool over_cap() const noexcept {
        return over_cap_.load(std::memory_order_relaxed);
    }

    /// Exact while no home thread injects.
    [[nodiscard]] std::size_t ready_lanes() {
        const std::lock_guard guard{lock_};
        return listed_ + incoming();
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

    /// About how many lanes were injected and not collected. Not zero if there is one.
    [[nodiscard]] std::size_t incoming() const noexcept {
        return incoming_.load(std::memory_order_relaxed) == nullptr
                   ? 0
                   : std::max<std::size_t>(incoming_count_.load(std::memory_order_relaxed), 1);
    }

    /// How many of so many lanes may leave the queue now.
    [[nodiscard]] std::size_t startable(std::size_t lanes) const noexcept {
        if (max_calls_ == 0) {
            return lanes;
        }
        return active_ < max_calls_ ? std::min<std::size_t>(lanes, max_calls_ - active_) : 0;
    }

    /// Moves injected lanes to the end of the list, oldest first.
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
    // Approximately how many lanes wait in incoming_. Colliding home threads may lose a count, so
    // `flush` reads incoming_ itself to see whether any lane waits.
    std::atomic<std::size_t> incoming_count_{0};

    // Guarded by lock_.
    alignas(64) typename Sync::Lock lock_;
    std::atomic<bool> over_cap_{false}; // written seldom, read without the lock
    unsigned active_{0};
    unsigned max_calls_;
    std::size_t listed_{0};
    core::MpscNode* front_{nullptr}; // linked to back_
    core::MpscNode* back_{nullptr};  // meaningless while front_ is null

    Wake wake_;
};

} // namespace sessionq::dispatch
