#include "ports/settlement_book.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::ports {

SettlementBook::~SettlementBook() {
    if (destroyed_ != nullptr) {
        *destroyed_ = true;
    }
}

// A broker answers in order as a rule, so the first is looked at first and the front moves lazily.
bool SettlementBook::take(const Delivery& delivery) {
    const auto first = waiting_.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto found = std::find(first, waiting_.end(), &delivery);
    if (found == waiting_.end()) {
        return false;
    }
    if (found != first) {
        waiting_.erase(found);
    } else if (++first_ * 2 >= waiting_.size()) {
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
    return true;
}

bool SettlementBook::fail_all(LinkEvents* events, const Failure& why) {
    bool destroyed = false;
    bool* const outer = std::exchange(destroyed_, &destroyed);
    while (!empty()) {
        Delivery& delivery = *waiting_[first_];
        static_cast<void>(take(delivery));
        events->on_settled(delivery, &why);
        if (destroyed) {
            if (outer != nullptr) {
                *outer = true;
            }
            return false;
        }
    }
    destroyed_ = outer;
    return true;
}

} // namespace sessionq::ports
