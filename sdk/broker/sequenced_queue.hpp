#pragma once

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
    [[nodiscard]] bool empty() const noexcept { return in_order_.empty() && !strays_; }

    [[nodiscard]] T* front() const noexcept {
        T* first = in_order_.front();
        if (strays_ && (first == nullptr || (*strays_->begin())->*Key < first->*Key)) {
            return *strays_->begin();
        }
        return first;
    }

    void push(T& item) {
        if (in_order_.empty() || item.*Key > in_order_.back()->*Key) {
            in_order_.push_back(item);
        } else if (item.*Key < in_order_.front()->*Key) {
            in_order_.push_front(item);
        } else {
            if (!strays_) {
                strays_ = std::make_unique<Strays>();
            }
            strays_->insert(&item);
        }
    }

    /// No effect if the item is not queued.
    void remove(T& item) noexcept {
        if (is_in_order(item)) {
            in_order_.remove(item);
        } else if (strays_ && strays_->erase(&item) != 0 && strays_->empty()) {
            strays_.reset();
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
        return is_in_order(item) || (strays_ && strays_->contains(&item));
    }

private:
    struct Earlier {
        bool operator()(const T* a, const T* b) const noexcept { return a->*Key < b->*Key; }
    };
    using Strays = std::set<T*, Earlier>;

    static bool is_in_order(T& item) noexcept {
        return static_cast<core::ListHook<Tag>&>(item).is_linked();
    }

    core::IntrusiveList<T, Tag> in_order_;
    std::unique_ptr<Strays> strays_; // null or not empty
};

} // namespace sessionq::broker
