// SPDX-License-Identifier: MIT
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "core/clock.hpp"
#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/live/live_run.hpp"
#include "tools/sessionq/live/look_pace.hpp"
#include "tools/sessionq/live/report_text.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

void wait_for(Duration pause) {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable{}.wait_for(lock, pause, [] { return false; });
}

std::string failure_line(const std::exception& failure, Duration since) {
    Json line = Json::object();
    put_text(line, "error", failure.what());
    line["since"] = std::chrono::duration<double>(since).count();
    return line_of(line);
}

} // namespace

int print_looks(LiveSubject& subject, const Shared& shared, const LiveOptions& options) {
    if (options.once) {
        subject.look({});
        write_output(shared.json ? subject.json() : text_of(subject.report()));
        return 0;
    }
    std::optional<TimePoint> failing_since;
    while (true) {
        const TimePoint began = core::system_clock().now();
        try {
            subject.look({});
            failing_since.reset();
            write_output(subject.json());
        } catch (const OutputError&) {
            throw;
        } catch (const std::exception& failure) {
            const auto* const error = dynamic_cast<const Error*>(&failure);
            if (error != nullptr && is_mistake(*error)) {
                throw;
            }
            const TimePoint now = core::system_clock().now();
            failing_since = failing_since.value_or(now);
            write_output(failure_line(failure, now - *failing_since));
        }
        wait_for(pause_after(core::system_clock().now() - began, options.interval));
    }
}

} // namespace sessionq::cli
