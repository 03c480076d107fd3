// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/event_loop.hpp"
#include "processor/session/session_key.hpp"

namespace sessionq::processor {

/// The sessions of a processor, so that no session is handled twice at once in one process. A
/// broker may grant a session anew, on any link, before the news of the lost lock arrives. Then the
/// later lock waits until the handlers of the earlier one have returned. Thread-safe.
class HeldSessions {
public:
    using Key = SessionKey;
    using Holder = const void*;

    /// True: the session is the holder's alone, go on. False: others had it before; `begin` is
    /// posted to `loop` when they have ended.
    [[nodiscard]] bool hold(const Key& key, Holder holder, core::EventLoop& loop, core::Task begin);

    /// No handler of the holder runs or will run. Once for each `hold`.
    void ended(const Key& key, Holder holder);

private:
    struct Entry {
        Holder holder;
        core::EventLoop* loop;
        core::Task begin;
    };
    std::mutex mutex_{};
    std::unordered_map<Key, std::vector<Entry>, SessionKeyHash> sessions_{};
};

} // namespace sessionq::processor
