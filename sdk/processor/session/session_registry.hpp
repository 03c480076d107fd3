// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/event_loop.hpp"
#include "processor/session/session_key.hpp"

namespace sessionq::detail::processor {

/// Ensures that one process never handles a session twice at the same time. A broker may grant a
/// session again, on any link, before the news of the lost lock arrives. Then the later holder
/// waits until the handlers of the earlier holder have returned. `SessionDriver` asks the registry
/// when its session is accepted. All shards share the registry. Thread-safe.
class SessionRegistry {
public:
    using Key = SessionKey;
    using Holder = const void*;

    /// Adds a holder. Returns whether it is the only holder, and so may go on at once. If not,
    /// `begin` is posted to `loop` when all earlier holders have ended.
    [[nodiscard]] bool hold(const Key& key, Holder holder, core::EventLoop& loop, core::Task begin);

    /// No handler of the holder runs or will run. Called once for each `hold`.
    void ended(const Key& key, Holder holder);

private:
    struct Waiter {
        Holder holder;
        core::EventLoop* loop;
        core::Task begin;
    };
    struct Held {
        Holder holder;
        std::vector<Waiter> waiting{}; ///< in the order in which they came
    };
    using Sessions = std::unordered_map<Key, Held, SessionKeyHash>;

    std::mutex mutex_{};
    Sessions sessions_{};
    std::vector<Sessions::node_type> spare_{}; ///< memory of sessions that ended, for the next
};

} // namespace sessionq::detail::processor
