// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>

#include "processor/session/session_key.hpp"

namespace sessionq::detail::processor {

/// Counts how often in a row `on_session_open` threw for a session. The session is given back after
/// each failure, but its count stays. So the session waits longer after each failure.
/// `SessionDriver` reports the end of each `on_session_open`. All shards share one book.
/// Thread-safe.
class OpenBook {
public:
    /// The most sessions in the book. Beyond that, the session that failed longest ago is
    /// forgotten.
    static constexpr std::size_t most = 10'000;

    /// `on_session_open` threw. Returns how often in a row it had thrown before.
    std::uint32_t failed(const SessionKey& key) {
        const std::lock_guard lock{mutex_};
        std::uint32_t before = 0;
        if (const auto at = sessions_.find(key); at != sessions_.end()) {
            before = at->second->failures;
            entries_.splice(entries_.end(), entries_, at->second);
        } else {
            if (entries_.size() == most) {
                sessions_.erase(entries_.front().key);
                entries_.pop_front();
            }
            entries_.push_back({.key = key});
            sessions_.emplace(key, std::prev(entries_.end()));
            any_.store(true, std::memory_order_relaxed);
        }
        ++entries_.back().failures;
        return before;
    }

    /// `on_session_open` returned.
    void succeeded(const SessionKey& key) {
        if (!any_.load(std::memory_order_relaxed)) {
            return; // nearly always: no session has failed
        }
        const std::lock_guard lock{mutex_};
        if (const auto at = sessions_.find(key); at != sessions_.end()) {
            entries_.erase(at->second);
            sessions_.erase(at);
            any_.store(!entries_.empty(), std::memory_order_relaxed);
        }
    }

private:
    struct Entry {
        SessionKey key;
        std::uint32_t failures{0};
    };
    using Entries = std::list<Entry>; ///< the session that failed longest ago is first

    std::mutex mutex_{};
    Entries entries_{};
    std::unordered_map<SessionKey, Entries::iterator, SessionKeyHash> sessions_{};
    std::atomic<bool> any_{false};
};

} // namespace sessionq::detail::processor
