// SPDX-License-Identifier: MIT
#include "processor/doubtful_settings.hpp"

#include "processor/default_workers.hpp"

namespace sessionq::detail::processor {

std::vector<std::string> doubtful_settings(const SessionProcessorOptions& options,
                                           const ports::Capabilities& capabilities,
                                           ports::Scope scope) {
    std::vector<std::string> doubts;
    const auto number = [](auto value) { return std::to_string(value); };
    if (options.prefetch != 0 && options.prefetch < options.max_concurrent_calls_per_session) {
        doubts.push_back("prefetch " + number(options.prefetch) +
                         " is less than max_concurrent_calls_per_session " +
                         number(options.max_concurrent_calls_per_session) +
                         ": so many handlers of a session never run at once");
    }
    if (options.session_ids.size() > options.max_concurrent_sessions &&
        options.session_idle_timeout == Duration::max()) {
        doubts.push_back("session_idle_timeout never ends, and session_ids has " +
                         number(options.session_ids.size()) + " sessions for " +
                         number(options.max_concurrent_sessions) +
                         " slots: the others are never handled");
    }
    if (options.accept_wait < std::chrono::seconds{1}) {
        doubts.emplace_back(
            "accept_wait is less than 1 s: an idle processor asks the broker all the "
            "time");
    }
    if (scope == ports::Scope::session &&
        options.session_idle_timeout > capabilities.link_idle_timeout()) {
        doubts.push_back("session_idle_timeout is longer than " +
                         number(std::chrono::duration_cast<std::chrono::minutes>(
                                    capabilities.link_idle_timeout())
                                    .count()) +
                         " min: " + capabilities.broker() +
                         " ends a session's link that was idle for so long");
    }
    return doubts;
}

std::optional<std::string> doubtful_workers(const SessionProcessorOptions& options) {
    const std::uint32_t useful =
        default_workers(options.max_concurrent_sessions, options.max_concurrent_calls_per_session,
                        options.max_concurrent_calls);
    if (options.worker_threads == 0 || options.worker_threads >= useful) {
        return std::nullopt;
    }
    return "worker_threads " + std::to_string(options.worker_threads) +
           " lets no more handlers run at once, although sessions and calls allow more: a handler "
           "that waits keeps its worker, unless it is a coroutine";
}

} // namespace sessionq::detail::processor
