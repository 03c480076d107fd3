// SPDX-License-Identifier: MIT
#include "processor/report/meters.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::CallTimes;
using detail::processor::Ending;
using detail::processor::Meters;

namespace {

constexpr TimePoint one_hour{1h};

Histogram lengths_in(const core::HistogramRecorder& recorder) {
    Histogram histogram;
    recorder.add_to(histogram);
    return histogram;
}

} // namespace

TEST_CASE("meters: the wait of a message is counted once, if it was first and was handled") {
    Meters meters;
    CallTimes times{.ready = one_hour, .started = one_hour + 3ms};
    meters.handled(times, Ending::not_started);
    CHECK(lengths_in(meters.ready_wait).count() == 0);
    meters.handled(times, Ending::failed);
    times.started = one_hour + 10ms; // its next attempt
    meters.handled(times, Ending::handled);
    CallTimes behind_others{.started = one_hour};
    meters.handled(behind_others, Ending::handled);
    CHECK(lengths_in(meters.ready_wait).count() == 1);
    CHECK(lengths_in(meters.ready_wait).max() == 3ms);
    ProcessorCounters totals{.longest_ready_wait = 2ms};
    meters.add_to(totals);
    CHECK(totals.longest_ready_wait == 3ms);
    totals.longest_ready_wait = 4ms; // of another shard
    meters.add_to(totals);
    CHECK(totals.longest_ready_wait == 4ms);
}

TEST_CASE("meters: handlers that threw are apart") {
    Meters meters;
    meters.ran_once({.started = one_hour, .ended = one_hour + 1ms}, Ending::handled);
    meters.ran_once({.started = one_hour, .ended = one_hour + 2ms}, Ending::failed);
    meters.ran_once({}, Ending::not_started);
    meters.ran_once({}, Ending::expired);
    CHECK(lengths_in(meters.returned).count() == 1);
    CHECK(lengths_in(meters.returned).max() == 1ms);
    CHECK(lengths_in(meters.failed).count() == 1);
    CHECK(lengths_in(meters.failed).max() == 2ms);
}

TEST_CASE("meters: the margin is that of a lock that has an end") {
    Meters meters;
    meters.answered(one_hour, one_hour + 5ms, true, Deadline::at(one_hour + 30s));
    meters.answered(one_hour, one_hour + 6ms, true, Deadline::never());
    meters.answered(one_hour, one_hour + 7ms, false, Deadline::at(one_hour + 40s));
    CHECK(lengths_in(meters.settle).count() == 3);
    CHECK(lengths_in(meters.settle_margin).count() == 1);
    CHECK(lengths_in(meters.settle_margin).max() == 29'995ms);
    meters.renewed(true, one_hour, Deadline::at(one_hour - 1s)); // over already
    meters.renewed(false, one_hour, Deadline::at(one_hour + 1s));
    CHECK(lengths_in(meters.renew_margin).count() == 1);
    CHECK(lengths_in(meters.renew_margin).max() == 0ms);
}

TEST_CASE("meters: a roll has a session before it") {
    Meters meters;
    meters.rolled(TimePoint{}, one_hour);
    CHECK(lengths_in(meters.roll).count() == 0);
    meters.rolled(one_hour, one_hour + 2ms);
    CHECK(lengths_in(meters.roll).max() == 2ms);
}

TEST_CASE("meters: a session that was not opened was not held") {
    Meters meters;
    meters.closed(CloseReason::idle, 0, 5s);
    meters.closed(CloseReason::lock_lost, 1, 6s);
    CHECK(lengths_in(meters.hold).count() == 1);
    CHECK(lengths_in(meters.hold).max() == 6s);
    CHECK(
        meters.counters.sessions_closed[static_cast<std::size_t>(CloseReason::lock_lost)].read() ==
        1);
    CHECK(meters.counters.sessions_closed[static_cast<std::size_t>(CloseReason::idle)].read() == 0);
}
