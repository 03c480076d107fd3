#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/event_loop.hpp"

namespace sessionq::processor {

/// Sessions whose lease was lost while handlers of theirs still run, so that a new lease on the same session waits until the last of them has
/// returned: no session is handled twice at once in one process. Rarely anything in it. Thread-safe.
class RunningSessions {
public:
    using Key = std::pair<std::string, std::string>; ///< entity, session id

    void lost(Key key);

    /// The last handler has returned: posts what waits for it.
    void ended(const Key& key);

    /// False when nothing of the session runs; else `task` is posted to `loop` when the last handler has returned.
    [[nodiscard]] bool wait_for(const Key& key, core::EventLoop& loop, core::Task task);

private:
    struct Waiting {
        core::EventLoop* loop;
        core::Task task;
    };
    struct Entry {
        unsigned holders{0};
        std::vector<Waiting> waiting{};
    };

    std::atomic<bool> any_{false}; // spares the lock in the usual case
    std::mutex mutex_{};
    std::map<Key, Entry> entries_{};
};

} // namespace sessionq::processor
