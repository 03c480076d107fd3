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
/// without sessions stays locked when its link and its connection are gone, and a client with its
/// lock token and the right to the entity settles and renews it. Thread-safe: the servers of a
/// broker share it.
class MessageLocks {
public:
    /// `number`: the first half of the consumer's lock tokens. It is forgotten once the broker has
    /// no use for it.
    void add(std::uint64_t number, const broker::Queue& queue,
             const broker::ConsumerPtr& consumer) {
        const std::lock_guard lock{mutex_};
        consumers_.insert_or_assign(number, Entry{&queue, consumer});
        note_change();
    }

    /// A peer has let go of a consumer. The broker may have a use for it still.
    void let_go() {
        const std::lock_guard lock{mutex_};
        note_change();
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
    static constexpr std::size_t fewest_changes = 64;

    struct Entry {
        const broker::Queue* queue{nullptr};
        std::weak_ptr<broker::Consumer> consumer{};
    };

    /// Forgets expired consumers after as many changes as entries were left the last time, so that
    /// a change costs the same however many there are, and little is kept once all have gone.
    void note_change() {
        if (--changes_left_ != 0) {
            return;
        }
        std::erase_if(consumers_,
                      [](const auto& entry) { return entry.second.consumer.expired(); });
        changes_left_ = std::max(fewest_changes, consumers_.size());
    }

    mutable std::mutex mutex_{}; // guards the members below
    std::unordered_map<std::uint64_t, Entry> consumers_{};
    std::size_t changes_left_{fewest_changes}; // until expired consumers are forgotten
};

} // namespace sessionq::server
