#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "client/pending.hpp"
#include "ports/delivery.hpp"

namespace sessionq::client {

/// A delivery that the application has.
struct HeldDelivery final : ports::Delivery {
    /// Any thread: the settling call that counts was made.
    std::atomic<bool> decided{false};
    /// The place among the unanswered settlements.
    std::size_t place{0};
};

/// The settlements that the broker has not answered. Owns their deliveries until then.
class UnansweredSettlements {
public:
    HeldDelivery& add(std::shared_ptr<HeldDelivery> delivery, PendingPtr<core::Done> pending) {
        HeldDelivery& added = *delivery;
        added.place = entries_.size();
        entries_.push_back({std::move(delivery), std::move(pending)});
        return added;
    }

    /// The broker answered. `failure` null: settled.
    void answer(HeldDelivery& delivery, const Failure* failure) {
        std::swap(entries_[delivery.place], entries_.back());
        entries_[delivery.place].delivery->place = delivery.place;
        const Entry answered = std::move(entries_.back());
        entries_.pop_back();
        answered.pending->complete(failure != nullptr ? core::Result<core::Done>{*failure}
                                                      : core::Result<core::Done>{core::Done{}});
    }

    void fail_all(const Failure& why) {
        for (const Entry& entry : std::exchange(entries_, {})) {
            entry.pending->complete(why);
        }
    }

private:
    struct Entry {
        std::shared_ptr<HeldDelivery> delivery;
        PendingPtr<core::Done> pending;
    };

    std::vector<Entry> entries_;
};

} // namespace sessionq::client
