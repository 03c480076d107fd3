// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "tools/sessionq/doctor_findings.hpp"

namespace sessionq::cli {
namespace {

std::string seconds_words(double seconds) {
    constexpr double longest = 1e9;
    return time_words(std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>{std::clamp(seconds, 0.0, longest)}));
}

std::string names_of(const std::vector<std::string>& entities) {
    std::string names;
    for (const std::string& entity : entities) {
        names += (names.empty() ? "'" : ", '") + entity + "'";
    }
    return names;
}

Finding judge_reason(const ReasonSnapshot& reason) {
    const std::string entity = reason.entity.empty() ? "" : " at '" + reason.entity + "'";
    const std::string session =
        reason.session_id.empty() ? "" : ", session '" + reason.session_id + "'";
    return {.check = "health",
            .verdict = Verdict::failed,
            .found = reason.cause + " for " + seconds_words(reason.since) + entity + session +
                     (reason.detail.empty() ? "" : ": " + reason.detail),
            .change = reason.advice,
            .figures = {{"cause", reason.cause}, {"since", reason.since}, {"count", reason.count}}};
}

std::string number_words(double number) {
    return std::to_string(static_cast<std::uint64_t>(std::clamp(std::floor(number), 0.0, 1e15)));
}

Finding judge_handlers(const ProcessorSnapshot& processor) {
    const double failed = counter(processor, "messages_failed");
    const double dead = counter(processor, "messages_dead_lettered");
    Finding finding{.check = "handlers",
                    .found = number_words(counter(processor, "messages_handled")) +
                             " handler calls returned, " + number_words(failed) + " threw; " +
                             number_words(dead) + " messages were dead-lettered",
                    .figures = {{"threw", failed}, {"dead_lettered", dead}}};
    if (failed > 0) {
        finding.verdict = Verdict::warning;
        finding.change = "the log names each that threw and why: event handler_failed";
    }
    return finding;
}

Finding judge_state(const ProcessorSnapshot& processor) {
    Finding finding{.check = "processor",
                    .found = "of " + names_of(processor.entities) + ": " + processor.state + ", " +
                             processor.health};
    if (!processor.reasons.empty()) {
        finding.verdict = Verdict::failed;
    } else if (processor.state != "running") {
        finding.verdict = Verdict::warning;
        finding.change = "it handles no message in this state";
    }
    return finding;
}

} // namespace

std::vector<Finding> judge(const ProcessorFacts& facts) {
    if (!facts.told) {
        return {stopping_failure(
            "processor", "no processor answered at '" + facts.socket + "': " + facts.error,
            "check that the process runs, that it may be reached by this user, "
            "and that SessionProcessorOptions::describe_socket has this path")};
    }
    std::vector<Finding> findings{judge_state(*facts.told)};
    for (const ReasonSnapshot& reason : facts.told->reasons) {
        findings.push_back(judge_reason(reason));
    }
    findings.push_back(judge_handlers(*facts.told));
    return findings;
}

} // namespace sessionq::cli
