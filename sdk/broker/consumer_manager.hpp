#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "broker/consumer.hpp"

namespace sessionq::broker {

/// The consumers that share an entity without sessions, and whose turn it is. One is notified at a
/// time (DG3): by priority (DG6), then whoever has waited longest (DG5). Bound to the entity's
/// lock.
class ConsumerManager {
public:
    void add(const ConsumerPtr& consumer) { all_.push_back(consumer); }

    /// Forgets the consumer; what it was notified of is free for another.
    void remove(Consumer& consumer);

    /// It has pulled, or changed its mind.
    void set_interested(Consumer& consumer, bool interested);

    /// The consumer to notify now; null while one that was notified has not answered, or if none is
    /// interested.
    Consumer* notify_next();

    [[nodiscard]] const std::vector<ConsumerPtr>& all() const noexcept { return all_; }

private:
    using Line = core::IntrusiveList<Consumer, Consumer>;

    void leave_line(Consumer& consumer);

    std::vector<ConsumerPtr> all_;
    std::map<int, Line, std::greater<>> interested_; // by priority; none of them empty
    Consumer* notified_{nullptr};
};

} // namespace sessionq::broker
