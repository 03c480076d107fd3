// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <sessionq/time.hpp>

#include "tools/sessionq/live/live_subject.hpp"

namespace sessionq::cli {

/// The result of one look: a report, or the reason why it failed.
struct LookResult {
    std::optional<LiveReport> report{};
    std::string failure{};
    std::exception_ptr mistake{}; ///< No further look will succeed.
};

/// Looks at a subject in a thread of its own, so that keys never wait for it.
class Looker {
public:
    /// `on_result` is called in that thread after each look: `take` has something.
    Looker(LiveSubject& subject, Duration interval, std::function<void()> on_result);
    /// Gives a look up that is under way.
    ~Looker();
    Looker(const Looker&) = delete;
    Looker& operator=(const Looker&) = delete;

    /// Gives a look up that is under way. Returns whether the thread ended within `wait`.
    [[nodiscard]] bool stop(Duration wait);

    /// The newest result, once.
    [[nodiscard]] std::optional<LookResult> take();

private:
    void run(std::stop_token stop);
    [[nodiscard]] LookResult look(const std::stop_token& stop);

    LiveSubject& subject_;
    Duration interval_;
    std::function<void()> on_result_;
    std::mutex mutex_{};
    std::condition_variable_any wake_{};
    std::optional<LookResult> result_{};
    bool has_ended_{false};
    std::jthread thread_{}; // last: it uses the others
};

} // namespace sessionq::cli
