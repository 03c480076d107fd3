// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "broker/queue.hpp"

namespace sessionq::server {

/// The consumers that hold locks of single messages, of all connections. A message of an entity
/// without sessions stays locked when its link and its connection are gone, and whoever has its
/// lock token and the right to the entity settles and renews it. Thread-safe: the servers of a
/// broker share it.
class MessageLocks {
public:
    /// `number`: the first half of the consumer's lock tokens. It is forgotten once the broker has
    /// no use for it.
    void add(std::uint64_t number, const broker::Queue& queue,
             const broker::ConsumerPtr& consumer) {
        const std::lock_guard lock{mutex_};
        if (consumers_.size() >= next_sweep_) {
            std::erase_if(consumers_,
                          [](const auto& entry) { return entry.second.consumer.expired(); });
            next_sweep_ = std::max(first_sweep, 2 * consumers_.size());
        }
        consumers_.insert_or_assign(number, Entry{&queue, consumer});
    }

    /// Null if no consumer of the queue has this number.
    [[nodiscard]] broker::ConsumerPtr find(const broker::Queue& queue, std::uint64_t number) const {
        const std::lock_guard lock{mutex_};
        const auto found = consumers_.find(number);
        return found != consumers_.end() && found->second.queue == &queue
                   ? found->second.consumer.lock()
                   : nullptr;
    }

    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock{mutex_};
        return consumers_.size();
    }

private:
    static constexpr std::size_t first_sweep = 64;

    struct Entry {
        const broker::Queue* queue{nullptr};
        std::weak_ptr<broker::Consumer> consumer{};
    };

    mutable std::mutex mutex_{}; // guards the members below
    std::unordered_map<std::uint64_t, Entry> consumers_{};
    std::size_t next_sweep_{first_sweep};
};

} // namespace sessionq::server
