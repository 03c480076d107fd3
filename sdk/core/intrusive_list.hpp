// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace sessionq::core {

/// A link of a circular doubly linked list. An unlinked node points at itself. Destroying a linked
/// node unlinks it.
class ListNode {
public:
    ListNode() noexcept : next_{this}, previous_{this} {}
    ~ListNode() { unlink(); }
    ListNode(const ListNode&) = delete;
    ListNode& operator=(const ListNode&) = delete;

    [[nodiscard]] bool is_linked() const noexcept { return next_ != this; }

    void unlink() noexcept {
        next_->previous_ = previous_;
        previous_->next_ = next_;
        next_ = previous_ = this;
    }

private:
    template <typename T, typename Tag>
    friend class IntrusiveList;

    void insert_before(ListNode& position) noexcept {
        next_ = &position;
        previous_ = position.previous_;
        previous_->next_ = this;
        position.previous_ = this;
    }

    ListNode* next_;
    ListNode* previous_;
};

/// The base class of list elements, one for each list that an object can be in at the same time.
/// `Tag` distinguishes the lists.
template <typename Tag = void>
class ListHook : public ListNode {};

/// A list of objects that derive from `ListHook<Tag>`. It owns nothing and allocates nothing, and
/// every operation is O(1). Not thread-safe.
template <typename T, typename Tag = void>
class IntrusiveList {
public:
    [[nodiscard]] bool empty() const noexcept { return !head_.is_linked(); }
    [[nodiscard]] T* front() const noexcept { return empty() ? nullptr : owner(head_.next_); }
    [[nodiscard]] T* back() const noexcept { return empty() ? nullptr : owner(head_.previous_); }

    /// Returns the element after `item`, or null at the end.
    [[nodiscard]] T* next(const T& item) const noexcept {
        ListNode* after = hook(item).next_;
        return after == &head_ ? nullptr : owner(after);
    }

    void push_back(T& item) noexcept { hook(item).insert_before(head_); }
    void push_front(T& item) noexcept { hook(item).insert_before(*head_.next_); }

    T* pop_front() noexcept {
        T* item = front();
        if (item != nullptr) {
            hook(*item).unlink();
        }
        return item;
    }

    T* pop_back() noexcept {
        T* item = back();
        if (item != nullptr) {
            hook(*item).unlink();
        }
        return item;
    }

    static void remove(T& item) noexcept { hook(item).unlink(); }

    /// Moves all elements of `other` to the end of this list.
    void splice_back(IntrusiveList& other) noexcept {
        if (other.empty()) {
            return;
        }
        ListNode* first = other.head_.next_;
        ListNode* last = other.head_.previous_;
        other.head_.next_ = other.head_.previous_ = &other.head_;
        first->previous_ = head_.previous_;
        head_.previous_->next_ = first;
        last->next_ = &head_;
        head_.previous_ = last;
    }

private:
    static ListNode& hook(T& item) noexcept { return static_cast<ListHook<Tag>&>(item); }
    static const ListNode& hook(const T& item) noexcept {
        return static_cast<const ListHook<Tag>&>(item);
    }
    static T* owner(ListNode* node) noexcept {
        return static_cast<T*>(static_cast<ListHook<Tag>*>(node));
    }

    ListNode head_;
};

} // namespace sessionq::core
