// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "client/receiving/message_holder.hpp"

namespace sessionq::detail::client {

/// Keeps each delivery from its settlement until the broker's answer, and then answers the call
/// that waits for it. A receiver has one. The session of a processor has one, too, for the messages
/// that its handler asked for.
class UnansweredSettlements {
public:
    HeldDelivery& add(std::shared_ptr<HeldDelivery> delivery, PendingPtr<core::Done> pending) {
        HeldDelivery& added = *delivery;
        added.kept = std::move(delivery);
        added.settling = std::move(pending);
        waiting_.push_back(added);
        return added;
    }

    /// The broker answered. `failure` null: settled.
    void answer(HeldDelivery& delivery, const Failure* failure) {
        waiting_.remove(delivery);
        const auto kept = std::move(delivery.kept);
        std::exchange(delivery.settling, nullptr)
            ->complete(failure != nullptr ? core::Result<core::Done>{*failure} : core::Done{});
    }

    void fail_all(const Failure& why) {
        while (HeldDelivery* delivery = waiting_.front()) {
            answer(*delivery, &why);
        }
    }

private:
    core::IntrusiveList<HeldDelivery> waiting_;
};

} // namespace sessionq::detail::client
