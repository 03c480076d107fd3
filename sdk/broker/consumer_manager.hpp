#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "broker/consumer.hpp"

namespace sessionq::broker {

/// The consumers that share an entity without sessions. It decides which one to notify: one at a
/// time (DG3), by priority (DG6), then the one that has waited longest (DG5). Guarded by the
/// entity's lock.
class ConsumerManager {
public:
    void add(const ConsumerPtr& consumer) {
        consumer->place = all_.size();
        all_.push_back(consumer);
    }

    /// Removes the consumer, at a cost that does not depend on how many there are. If it was
    /// notified, another one can be.
    void remove(Consumer& consumer);

    /// Records that a consumer wants work, or does not. Also ends its notification.
    void set_interested(Consumer& consumer, bool interested);

    /// Selects the consumer to notify now. Null if no consumer is interested, or if the notified
    /// one has not answered.
    Consumer* notify_next();

    [[nodiscard]] const std::vector<ConsumerPtr>& all() const noexcept { return all_; }

private:
    using Line = core::IntrusiveList<Consumer, Consumer>;

    void leave_line(Consumer& consumer);

    std::vector<ConsumerPtr> all_;
    std::map<int, Line, std::greater<>> interested_; // by priority; contains no empty line
    Consumer* notified_{nullptr};
};

} // namespace sessionq::broker
