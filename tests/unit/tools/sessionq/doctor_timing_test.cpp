// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_findings.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

namespace {

bool holds(const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
}

const WallTime answered = WallTime{hours{24 * 365 * 56}};
constexpr milliseconds there_and_back{20};

/// A lock of a broker whose clock is behind ours by `ahead`, and that tells its time.
LinkFacts told_lock(Duration length, Duration ahead) {
    const WallTime now = answered - duration_cast<WallTime::duration>(there_and_back / 2 + ahead);
    return {.took = there_and_back,
            .locked_until = now + duration_cast<WallTime::duration>(length),
            .broker_time = now,
            .answered_at = answered};
}

LinkFacts untold_lock(Duration length, Duration ahead) {
    LinkFacts named = told_lock(length, ahead);
    named.broker_time.reset();
    return named;
}

LinkFacts failed_link(Errc code) {
    return {.failure = Failure{.code = code, .detail = "why"}, .took = seconds{1}};
}

std::vector<LinkFacts> answers_after(std::vector<int> milliseconds_each) {
    std::vector<LinkFacts> answers;
    for (const int each : milliseconds_each) {
        answers.push_back({.took = milliseconds{each}});
    }
    return answers;
}

} // namespace

TEST_CASE("doctor timing: the length of a lock does not depend on the clocks if both are told") {
    for (const Duration ahead : {Duration{0}, Duration{minutes{10}}, Duration{-minutes{10}}}) {
        const Finding finding = judge_lock(told_lock(seconds{30}, ahead));
        CHECK(finding.verdict == Verdict::ok);
        CHECK(finding.found == "30 s");
        CHECK(finding.figures["seconds"] == 30.0);
    }
    CHECK(judge_lock(untold_lock(seconds{30}, {})).found == "30 s, if the clocks agree");
}

TEST_CASE("doctor timing: a lock that is short for the distance is a warning") {
    CHECK(judge_lock(told_lock(there_and_back * 20, {})).verdict == Verdict::ok);
    const Finding finding = judge_lock(told_lock(there_and_back * 20 - milliseconds{1}, {}));
    CHECK(finding.verdict == Verdict::warning);
    CHECK(holds(finding.change, "20 ms"));
}

TEST_CASE("doctor timing: a lock that is refused or not told") {
    CHECK(judge_lock(failed_link(Errc::server_busy)).verdict == Verdict::failed);
    CHECK_FALSE(judge_lock(failed_link(Errc::server_busy)).stops);
    CHECK(judge_lock(failed_link(Errc::timeout)).stops);
    CHECK(holds(judge_lock(failed_link(Errc::timeout)).change, "frozen"));
    CHECK(judge_clock(failed_link(Errc::server_busy)).verdict == Verdict::skipped);
    CHECK(judge_lock(LinkFacts{}).verdict == Verdict::skipped);
    CHECK(judge_clock(LinkFacts{}).verdict == Verdict::skipped);
}

TEST_CASE("doctor timing: clocks that differ are named with the side and the size") {
    const auto clock_for = [](Duration ahead) {
        return judge_clock(told_lock(seconds{30}, ahead));
    };
    CHECK(clock_for({}).verdict == Verdict::ok);
    CHECK(clock_for({}).figures["ahead_seconds"] == 0.0);
    CHECK(clock_for(milliseconds{4999}).verdict == Verdict::ok);
    CHECK(clock_for(seconds{5}).verdict == Verdict::warning);
    CHECK(clock_for(-seconds{5}).verdict == Verdict::warning);
    CHECK(clock_for(seconds{299}).verdict == Verdict::warning);
    CHECK(clock_for(minutes{10}).verdict == Verdict::failed);
    CHECK(clock_for(minutes{10}).found == "this machine's clock is 10 min ahead of the broker's");
    CHECK(clock_for(-minutes{10}).found == "this machine's clock is 10 min behind the broker's");
    CHECK(holds(clock_for(minutes{10}).change, "NTP"));
    CHECK_FALSE(clock_for(minutes{10}).stops);
}

TEST_CASE("doctor timing: a broker that does not tell its time shows a difference by its locks") {
    const auto clock_for = [](Duration ahead) {
        return judge_clock(untold_lock(seconds{30}, ahead));
    };
    CHECK(clock_for({}).verdict == Verdict::ok);
    CHECK(holds(clock_for({}).found, "no sign"));
    CHECK(holds(clock_for(-seconds{270}).found, "no sign"));
    CHECK(clock_for(minutes{10}).verdict == Verdict::failed);
    CHECK(holds(clock_for(minutes{10}).found, "at least 9.6 min ahead of"));
    CHECK(holds(clock_for(-minutes{10}).found, "at least 5.5 min behind"));
}

TEST_CASE("doctor timing: the median decides whether a round trip is slow") {
    CHECK(judge_round_trip(answers_after({1000, 3, 2, 1, 4})).found ==
          "3 ms (median of 5; 1 ms to 1 s)");
    CHECK(judge_round_trip(answers_after({1000, 3, 2, 1, 4})).verdict == Verdict::ok);
    CHECK(judge_round_trip(answers_after({250})).verdict == Verdict::ok);
    const Finding slow = judge_round_trip(answers_after({1, 251, 400}));
    CHECK(slow.verdict == Verdict::warning);
    CHECK(holds(slow.change, "nearer"));
    auto answers = answers_after({1, 2});
    answers.push_back(failed_link(Errc::timeout));
    CHECK(judge_round_trip(answers).verdict == Verdict::failed);
    CHECK(judge_round_trip(answers).stops);
}

TEST_CASE("doctor timing: limits are told with their figures, and small ones are warnings") {
    LimitFacts limits{
        .max_frame_size = 65536, .channels = 16, .handles = 4, .idle_time_out = seconds{240}};
    CHECK(judge(limits).verdict == Verdict::ok);
    CHECK(judge(limits).found ==
          "frames of 65536 bytes, 16 channels, 4 handles each, idle time-out 4 min");
    limits.handles = 3;
    CHECK(judge(limits).verdict == Verdict::warning);
    CHECK(holds(judge(limits).change, "48"));
    CHECK(judge(LimitFacts{.max_frame_size = 4095, .channels = 9, .handles = 9}).verdict ==
          Verdict::warning);
    const Finding open = judge(LimitFacts{.channels = 1});
    CHECK(open.verdict == Verdict::ok);
    CHECK(open.found == "frames of any size, 1 channels, no idle time-out");
    CHECK(holds(judge(LimitFacts{.channels = 1, .handles = std::size_t{1} << 32U}).found,
                "any number of handles each"));
}

TEST_CASE("doctor timing: an accept that finds no session is fine") {
    const Finding granted = judge_accept({.took = milliseconds{7}}, seconds{1});
    CHECK(granted.verdict == Verdict::ok);
    CHECK(granted.found == "a session was locked in 7 ms, and given back");
    const Finding none = judge_accept(failed_link(Errc::no_session_available), seconds{1});
    CHECK(none.verdict == Verdict::ok);
    CHECK(holds(none.found, "no session has messages"));
    CHECK(none.figures["granted"] == false);
    CHECK(judge_accept(failed_link(Errc::timeout), seconds{1}).verdict == Verdict::failed);
    CHECK(holds(judge_accept(failed_link(Errc::timeout), seconds{1}).change, "frozen"));
    CHECK(judge_accept(failed_link(Errc::server_busy), seconds{1}).verdict == Verdict::failed);
}
