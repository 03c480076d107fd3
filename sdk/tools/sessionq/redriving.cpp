// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <limits>

#include <sessionq/browser.hpp>

#include "core/clock.hpp"
#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

std::string summary_of(const RedriveReport& report) {
    std::string text = std::to_string(report.sent) + " sent";
    if (report.already_sent != 0) {
        text += ", " + std::to_string(report.already_sent) + " sent before";
    }
    if (report.left != 0) {
        text += ", " + std::to_string(report.left) + " left";
    }
    if (report.busy_sessions != 0) {
        text += " (another consumer holds " + std::to_string(report.busy_sessions) + " sessions)";
    }
    return text;
}

Json json_of(const RedriveReport& report) {
    return {{"selected", report.selected},         {"sent", report.sent},
            {"already_sent", report.already_sent}, {"left", report.left},
            {"sessions", report.sessions},         {"busy_sessions", report.busy_sessions}};
}

/// A line on a terminal that says how far it is. Removes itself.
class ProgressLine {
public:
    ProgressLine() = default;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() { show(""); }

    void show(const std::string& text) const {
        if (on_terminal_) {
            std::fputs(("\r\033[K" + text).c_str(), stderr);
        }
    }

private:
    bool on_terminal_{::isatty(STDERR_FILENO) != 0};
};

/// Counts the dead letters that would be sent, without locking them.
int count_only(const Client& client, const Shared& shared,
               const RedriveDeadLettersOptions& options) {
    const RedriveOptions& how = options.redrive;
    std::uint64_t selected = 0;
    std::uint64_t left =
        how.max_messages != 0 ? how.max_messages : std::numeric_limits<std::uint64_t>::max();
    Browser letters{client, options.entity, {.sub_queue = SubQueue::dead_letter}};
    for (const ReceivedMessage& letter : letters) {
        if (letter.facts().state == MessageState::active &&
            how.filter.matches(letter, core::system_clock().wall_now())) {
            ++selected;
            if (--left == 0) {
                break;
            }
        }
    }
    if (shared.json) {
        write_output(line_of({{"selected", selected}}));
    } else {
        tell(std::to_string(selected) + " would be sent");
    }
    return 0;
}

} // namespace

int run(const Client& client, const Shared& shared, const RedriveDeadLettersOptions& options) {
    if (options.count_only) {
        return count_only(client, shared, options);
    }
    RedriveReport report;
    std::exception_ptr failure;
    {
        const ProgressLine line;
        RedriveOptions how = options.redrive;
        how.on_progress = [&](const RedriveReport& now) {
            report = now;
            line.show(std::to_string(now.sent + now.already_sent) + " of " +
                      std::to_string(now.selected));
        };
        try {
            report = redrive(client, options.entity, std::move(how));
        } catch (...) {
            failure = std::current_exception();
        }
    }
    if (shared.json) {
        write_output(line_of(json_of(report)));
    } else if (!failure || report.selected != 0) {
        tell(summary_of(report));
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    return report.left == 0 ? 0 : 1;
}

} // namespace sessionq::cli
