// SPDX-License-Identifier: MIT
#include "servicebus/token_book.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sessionq::detail::servicebus {

bool TokenBook::is_granted(const std::string& node, TimePoint now) const {
    const auto found = rights_.find(node);
    return found != rights_.end() && found->second.claim.is_valid(now);
}

void TokenBook::wait(const std::string& node, Waiter waiter) {
    rights_[node].waiters.push_back(std::move(waiter));
}

std::vector<TokenBook::Order> TokenBook::take_orders(TimePoint now) {
    std::vector<Order> orders;
    for (auto& [node, right] : rights_) {
        const bool is_wanted = !right.waiters.empty() && !right.claim.is_valid(now);
        if (right.order.attempt == 0 && (is_wanted || right.claim.is_due(now))) {
            right.claim.asked();
            right.order = {.node = node,
                           .attempt = ++last_attempt_,
                           .deadline = Deadline::after(timeout_, now)};
            orders.push_back(right.order);
        }
    }
    return orders;
}

bool TokenBook::is_current(const Order& order) const {
    const auto found = rights_.find(order.node);
    return found != rights_.end() && found->second.order.attempt == order.attempt;
}

template <typename Note>
TokenBook::Waiters TokenBook::end(const Order& order, Note note) {
    if (!is_current(order)) {
        return {};
    }
    Right& right = rights_.at(order.node);
    note(right.claim);
    right.order = {};
    return std::exchange(right.waiters, {});
}

TokenBook::Waiters TokenBook::granted(const Order& order, TimePoint now, Duration life) {
    return end(order, [&](Claim& claim) { claim.granted(now, life); });
}

TokenBook::Waiters TokenBook::failed(const Order& order, TimePoint now) {
    return end(order, [&](Claim& claim) { claim.failed(now, random_); });
}

std::vector<TokenBook::Order> TokenBook::overdue(TimePoint now) const {
    std::vector<Order> late;
    for (const auto& [node, right] : rights_) {
        if (right.order.attempt != 0 && right.order.deadline.passed(now)) {
            late.push_back(right.order);
        }
    }
    return late;
}

void TokenBook::rejected(const std::string& node) {
    const auto found = rights_.find(node);
    if (found != rights_.end() && found->second.order.attempt == 0) {
        found->second.claim.reject();
    }
}

TokenBook::Waiters TokenBook::clear() {
    Waiters all;
    for (auto& [node, right] : std::exchange(rights_, {})) {
        std::move(right.waiters.begin(), right.waiters.end(), std::back_inserter(all));
    }
    return all;
}

TimePoint TokenBook::next() const {
    TimePoint next = TimePoint::max();
    for (const auto& [node, right] : rights_) {
        next =
            std::min({next, right.claim.due(),
                      right.order.attempt != 0 ? right.order.deadline.time() : TimePoint::max()});
    }
    return next;
}

} // namespace sessionq::detail::servicebus
