// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace sessionq::core {

/// The link of an `MpscQueue` element. An element is in at most one queue at a time.
struct MpscNode {
    std::atomic<MpscNode*> mpsc_next{nullptr};
};

/// A queue with many producers and one consumer. It is lock-free and intrusive, and allocates
/// nothing. The consumer takes all elements at once, oldest first, so thread crossings are batched.
///
/// Any thread may call `push`; one thread at a time may call `take_all`.
template <typename T>
class MpscQueue {
public:
    /// Returns true if the queue was empty: the producer of this push should wake the consumer.
    bool push(T& item) noexcept {
        MpscNode* node = &item;
        MpscNode* top = top_.load(std::memory_order_relaxed);
        do {
            node->mpsc_next.store(top, std::memory_order_relaxed);
        } while (!top_.compare_exchange_weak(top, node, std::memory_order_acq_rel,
                                             std::memory_order_relaxed));
        return top == nullptr;
    }

    [[nodiscard]] bool empty() const noexcept {
        return top_.load(std::memory_order_acquire) == nullptr;
    }

    /// Detaches all elements and returns the oldest. Walk them with `next`.
    [[nodiscard]] T* take_all() noexcept {
        MpscNode* node = top_.exchange(nullptr, std::memory_order_acq_rel);
        MpscNode* oldest = nullptr;
        while (node != nullptr) {
            MpscNode* older = node->mpsc_next.load(std::memory_order_relaxed);
            node->mpsc_next.store(oldest, std::memory_order_relaxed);
            oldest = node;
            node = older;
        }
        return static_cast<T*>(oldest);
    }

    /// Returns the element after `item` among those that `take_all` detached. Call it before `item`
    /// is queued again or destroyed.
    [[nodiscard]] static T* next(const T& item) noexcept {
        return static_cast<T*>(item.mpsc_next.load(std::memory_order_relaxed));
    }

private:
    std::atomic<MpscNode*> top_{nullptr};
};

} // namespace sessionq::core
