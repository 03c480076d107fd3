// SPDX-License-Identifier: MIT
#include <chrono>

#include <sessionq/logging.hpp>

#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/live/entity_subject.hpp"
#include "tools/sessionq/live/live_run.hpp"
#include "tools/sessionq/live/processor_subject.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration longest_connecting = std::chrono::seconds{10};

/// `with_subject` makes the subject and gives it to its argument.
template <typename WithSubject>
int run_live(const Shared& shared, const LiveOptions& options, const WithSubject& with_subject) {
    check_terminal(shared, options);
    if (shared.json || options.once) {
        return with_subject(
            [&](LiveSubject& subject) { return print_looks(subject, shared, options); });
    }
    const BlockedSignals signals; // threads of the client inherit them
    set_log_level(LogLevel::off); // the screen tells of failures
    return with_subject([&](LiveSubject& subject) { return show_live(subject, options, signals); });
}

} // namespace

int run(const Shared& shared, const TopOptions& options) {
    return run_live(shared, options.live, [&options](const auto& use) {
        ProcessorSubject subject{options.socket};
        return use(subject);
    });
}

int run(const Shared& shared, const WatchOptions& options) {
    return run_live(shared, options.live, [&](const auto& use) {
        EntitySubject subject{[&shared] { return connect(shared, longest_connecting); },
                              options.entity};
        return use(subject);
    });
}

} // namespace sessionq::cli
