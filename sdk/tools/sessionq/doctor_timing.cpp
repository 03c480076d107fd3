// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "tools/sessionq/doctor_findings.hpp"

namespace sessionq::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The lengths that Azure Service Bus allows for the locks of an entity.
constexpr Duration shortest_lock = seconds{5};
constexpr Duration longest_lock = minutes{5};

constexpr Duration clock_tolerance = seconds{5};
constexpr Duration clock_limit = minutes{5};
constexpr Duration slow_round_trip = milliseconds{250};
constexpr int round_trips_in_a_lock = 20;
constexpr std::uint64_t few_links = 64;
constexpr std::uint32_t small_frame = 4096;

/// When the broker answered, by this machine's clock.
WallTime answered_at(const LinkFacts& answer) {
    return answer.answered_at - std::chrono::duration_cast<WallTime::duration>(answer.took / 2);
}

Duration between(WallTime from, WallTime to) {
    return std::chrono::duration_cast<Duration>(to - from);
}

/// By how much this machine's clock is ahead of the broker's; negative: behind.
struct ClockDifference {
    Duration ahead{};
    bool is_bound{false}; ///< It may be more than this.
};

/// A broker that does not tell its time tells when a lock ends: its time, and the lock's length.
ClockDifference clock_difference(const LinkFacts& named) {
    if (named.broker_time) {
        return {.ahead = between(*named.broker_time, answered_at(named))};
    }
    const Duration left = between(answered_at(named), *named.locked_until);
    if (left > longest_lock) {
        return {.ahead = longest_lock - left, .is_bound = true};
    }
    return {.ahead = std::max(shortest_lock - left, Duration::zero()), .is_bound = true};
}

const char* advice_for(const Failure& failure) {
    return failure.code == Errc::timeout ? "check that the broker is not frozen or overloaded"
                                         : "look into the broker's log";
}

std::string handles_text(std::size_t handles) {
    constexpr std::size_t unlimited = std::size_t{1} << 32U;
    if (handles == 0) {
        return {};
    }
    return (handles == unlimited ? "any number of" : std::to_string(handles)) + " handles each, ";
}

/// Why neither the lock nor the clock is known; nothing if they are.
std::optional<Finding> unknown_lock(const char* check, const LinkFacts& named) {
    if (!named.failure && named.locked_until) {
        return std::nullopt;
    }
    return skipped(check, named.failure
                              ? "a session could not be locked: " + named.failure->to_string()
                              : "the broker does not say when the lock ends");
}

} // namespace

Finding judge_lock(const LinkFacts& named) {
    const char* const check = "lock length";
    if (auto unknown = unknown_lock(check, named)) {
        if (named.failure) {
            unknown->verdict = Verdict::failed;
            unknown->change = advice_for(*named.failure);
            unknown->stops = named.failure->code == Errc::timeout;
        }
        return *std::move(unknown);
    }
    const bool is_told = named.broker_time.has_value();
    const Duration length = is_told ? between(*named.broker_time, *named.locked_until)
                                    : between(answered_at(named), *named.locked_until);
    Finding finding{.check = check, .figures = {{"seconds", seconds_of(length)}}};
    finding.found = time_words(length) + (is_told ? "" : ", if the clocks agree");
    if (is_told && length < named.took * round_trips_in_a_lock) {
        finding.verdict = Verdict::warning;
        finding.change = "make the entity's lock duration longer: an answer took " +
                         time_words(named.took) + ", and locks must be renewed in time";
    }
    return finding;
}

Finding judge_clock(const LinkFacts& named) {
    const char* const check = "clock";
    if (auto unknown = unknown_lock(check, named)) {
        return *std::move(unknown);
    }
    const ClockDifference difference = clock_difference(named);
    const Duration size = std::chrono::abs(difference.ahead);
    Finding finding{.check = check, .figures = {{"ahead_seconds", seconds_of(difference.ahead)}}};
    if (difference.is_bound && size == Duration::zero()) {
        finding.found = "no sign of a difference (the broker does not tell its time; the lock ends "
                        "when it should)";
        return finding;
    }
    if (size < clock_tolerance) {
        finding.found = "within " + time_words(size) + " of the broker's";
        return finding;
    }
    finding.verdict = size < clock_limit ? Verdict::warning : Verdict::failed;
    finding.found = "this machine's clock is " +
                    std::string{difference.is_bound ? "at least " : ""} + time_words(size) +
                    (difference.ahead > Duration::zero() ? " ahead of" : " behind") +
                    " the broker's";
    finding.change = "synchronise the clocks (NTP): tokens and scheduled messages use them";
    return finding;
}

Finding judge_round_trip(std::vector<LinkFacts> answers) {
    const char* const check = "round trip";
    for (const LinkFacts& answer : answers) {
        if (answer.failure) {
            return {.check = check,
                    .verdict = Verdict::failed,
                    .found = answer.failure->to_string(),
                    .change = "check that the broker is not frozen or overloaded",
                    .stops = true};
        }
    }
    std::ranges::sort(answers, {}, &LinkFacts::took);
    const Duration median = answers.at(answers.size() / 2).took;
    Finding finding{.check = check,
                    .found = time_words(median) + " (median of " + std::to_string(answers.size()) +
                             "; " + time_words(answers.front().took) + " to " +
                             time_words(answers.back().took) + ")",
                    .figures = {{"milliseconds", milliseconds_of(median)}}};
    if (median > slow_round_trip) {
        finding.verdict = Verdict::warning;
        finding.change = "run the application nearer to the broker, or give it more concurrent "
                         "sessions: each new session waits for a round trip";
    }
    return finding;
}

Finding judge(const LimitFacts& facts) {
    const std::uint64_t links = std::uint64_t{facts.channels} * facts.handles;
    Finding finding{.check = "limits",
                    .figures = {{"max_frame_bytes", facts.max_frame_size},
                                {"channels", facts.channels},
                                {"handles", facts.handles},
                                {"idle_time_out_seconds", seconds_of(facts.idle_time_out)}}};
    finding.found = (facts.max_frame_size == 0
                         ? std::string{"frames of any size"}
                         : "frames of " + std::to_string(facts.max_frame_size) + " bytes") +
                    ", " + std::to_string(facts.channels) + " channels, " +
                    handles_text(facts.handles) +
                    (facts.idle_time_out == Duration::zero()
                         ? "no idle time-out"
                         : "idle time-out " + time_words(facts.idle_time_out));
    if (facts.handles != 0 && links < few_links) {
        finding.verdict = Verdict::warning;
        finding.change = "raise the broker's limits if the application wants more than " +
                         std::to_string(links) + " concurrent sessions";
    } else if (facts.max_frame_size != 0 && facts.max_frame_size < small_frame) {
        finding.verdict = Verdict::warning;
        finding.change = "raise the broker's frame size: small frames cost time for each message";
    }
    return finding;
}

Finding judge_accept(const LinkFacts& next, Duration wait) {
    const char* const check = "session accept";
    if (!next.failure) {
        return {.check = check,
                .found = "a session was locked in " + time_words(next.took) + ", and given back",
                .figures = {{"milliseconds", milliseconds_of(next.took)}, {"granted", true}}};
    }
    if (next.failure->code == Errc::no_session_available) {
        return {.check = check,
                .found = "no session has messages that are not locked (the broker waited " +
                         time_words(wait) + ")",
                .figures = {{"milliseconds", milliseconds_of(next.took)}, {"granted", false}}};
    }
    return {.check = check,
            .verdict = Verdict::failed,
            .found = next.failure->to_string(),
            .change = advice_for(*next.failure)};
}

} // namespace sessionq::cli
