// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

#include "core/intrusive_list.hpp"

namespace sessionq::broker {

/// Items in the order of a key. Most items arrive in that order already (DG7). Adding at either end
/// costs O(1) and no memory. Returning an item into the middle costs O(log n) in the number of such
/// items.
///
/// `T` derives from `core::ListHook<Tag>`. `Key` is constant while the item is queued, and unique
/// among the queued items. Owns nothing.
template <typename T, typename Tag, std::int64_t T::*Key>
class SequencedQueue {
public:
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] T* front() const noexcept {
        T* first = in_order_.front();
        if (out_of_order_ && (first == nullptr || (*out_of_order_->begin())->*Key < first->*Key)) {
            return *out_of_order_->begin();
        }
        return first;
    }

    /// The item that follows `front()`, as a rule. Null: unknown.
    [[nodiscard]] const T* likely_second() const noexcept {
        const T* const first = in_order_.front();
        return first != nullptr ? in_order_.next(*first) : nullptr;
    }

    void push(T& item) {
        ++size_;
        if (in_order_.empty() || item.*Key > in_order_.back()->*Key) {
            in_order_.push_back(item);
        } else if (item.*Key < in_order_.front()->*Key) {
            in_order_.push_front(item);
        } else {
            if (!out_of_order_) {
                out_of_order_ = std::make_unique<OutOfOrder>();
            }
            out_of_order_->insert(&item);
        }
    }

    /// No effect if the item is not queued.
    void remove(T& item) noexcept {
        if (is_in_order(item)) {
            in_order_.remove(item);
            --size_;
        } else if (out_of_order_ && out_of_order_->erase(&item) != 0) {
            --size_;
            if (out_of_order_->empty()) {
                out_of_order_.reset();
            }
        }
    }

    T* pop_front() noexcept {
        T* first = front();
        if (first != nullptr) {
            remove(*first);
        }
        return first;
    }

    [[nodiscard]] bool contains(T& item) const noexcept {
        return is_in_order(item) || (out_of_order_ && out_of_order_->contains(&item));
    }

private:
    struct Earlier {
        bool operator()(const T* a, const T* b) const noexcept { return a->*Key < b->*Key; }
    };
    using OutOfOrder = std::set<T*, Earlier>;

    static bool is_in_order(T& item) noexcept {
        return static_cast<core::ListHook<Tag>&>(item).is_linked();
    }

    core::IntrusiveList<T, Tag> in_order_;
    std::unique_ptr<OutOfOrder> out_of_order_; // null or not empty
    std::size_t size_{0};
};

} // namespace sessionq::broker
