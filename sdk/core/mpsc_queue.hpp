#pragma once

#include <atomic>

namespace sessionq::core {

/// The link an element of an `MpscQueue` carries. An element is in at most one queue at a time.
struct MpscNode {
    std::atomic<MpscNode*> mpsc_next{nullptr};
};

/// Many producers, one consumer; lock-free, intrusive, allocates nothing. The consumer takes
/// everything at once, oldest first, which is how crossings between threads are batched.
///
/// `push` is safe from any thread; `take_all` from one thread at a time.
template <typename T>
class MpscQueue {
public:
    /// True when the queue was empty: the one push of a batch whose producer should wake the
    /// consumer.
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

    /// Detaches all elements and returns the oldest; walk on with `next`.
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

    /// The element after one of those that `take_all` detached. Read it before the element is
    /// queued anew or destroyed.
    [[nodiscard]] static T* next(const T& item) noexcept {
        return static_cast<T*>(item.mpsc_next.load(std::memory_order_relaxed));
    }

private:
    std::atomic<MpscNode*> top_{nullptr};
};

} // namespace sessionq::core
