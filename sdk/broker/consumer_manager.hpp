// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "broker/consumer.hpp"

namespace sessionq::broker {

/// The consumers that share an entity without sessions. It decides whom to notify: by priority
/// (DG6), then the one that has waited longest (DG5). Guarded by the entity's lock.
///
/// A notification is for the messages that were available then and are not announced to another
/// consumer, up to the consumer's credit. So one wake-up announces a whole batch (DG3), and a
/// consumer that is slow to pull delays no message that arrives later (DG4).
class ConsumerManager {
public:
    void add(const ConsumerPtr& consumer) {
        consumer->place = all_.size();
        all_.push_back(consumer);
    }

    /// Removes the consumer, at a cost that does not depend on how many there are. Messages that
    /// were announced to it can be announced to others.
    void remove(Consumer& consumer);

    /// Records how many messages a consumer wants; zero: none. Also ends its notification.
    void set_wanted(Consumer& consumer, std::uint32_t wanted);

    /// Selects the consumer to notify now that so many messages are available. Null if all of them
    /// are announced, or if no other consumer is interested. Call it until it returns null.
    Consumer* notify_next(std::size_t available);

    [[nodiscard]] const std::vector<ConsumerPtr>& all() const noexcept { return all_; }

private:
    using Line = core::IntrusiveList<Consumer, Consumer>;

    void leave_line(Consumer& consumer);
    void shrink_to(std::size_t available);

    std::vector<ConsumerPtr> all_;
    std::map<int, Line, std::greater<>> interested_; // by priority; contains no empty line
    Line notified_;            // those with announced messages; the longest notified first
    std::size_t announced_{0}; // to all of them
};

} // namespace sessionq::broker
