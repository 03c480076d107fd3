// SPDX-License-Identifier: MIT
#include "ports/settlement_book.hpp"

#include <algorithm>

namespace sessionq::ports {

// A broker usually answers in order. So `take` looks at the oldest settlement first, and erases the
// answered ones at the front only now and then.
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
    const auto handle = anchor_.handle();
    while (!empty()) {
        Delivery& delivery = *waiting_[first_];
        static_cast<void>(take(delivery));
        events->on_settled(delivery, &why);
        if (handle.get() == nullptr) {
            return false;
        }
    }
    return true;
}

std::vector<std::uint64_t> SettlementBook::tags() const {
    std::vector<std::uint64_t> found;
    found.reserve(waiting_.size() - first_);
    for (std::size_t at = first_; at < waiting_.size(); ++at) {
        found.push_back(waiting_[at]->port_tag);
    }
    return found;
}

} // namespace sessionq::ports
