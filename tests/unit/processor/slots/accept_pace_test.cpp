// SPDX-License-Identifier: MIT
#include "processor/slots/accept_pace.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::AcceptPace;

namespace {

struct PaceFixture {
    core::Random random{3};
    AcceptPace pace{BackoffOptions{.min = 100ms, .max = 1s}};
    TimePoint now{1h};

    /// The answer comes `after` the question. Returns for how long nothing is to be asked.
    Duration fail(Errc code, Duration after, bool tells = true) {
        const TimePoint asked = now;
        now += after;
        CHECK(pace.failed(code, asked, now, random) == tells);
        const Duration wait = std::max<Duration>(pace.wait_until() - now, 0s);
        now += wait;
        return wait;
    }
};

} // namespace

TEST_CASE_FIXTURE(PaceFixture,
                  "accept pace: R5: no session available is neither failure nor backoff") {
    for (int i = 0; i < 100; ++i) {
        CHECK(fail(Errc::no_session_available, 60s, false) == 0s);
    }
}

TEST_CASE_FIXTURE(PaceFixture,
                  "accept pace: R17: answers of no session that come at once are spaced") {
    for (int i = 0; i < 10; ++i) {
        CHECK(fail(Errc::no_session_available, 30ms, false) == AcceptPace::min_interval - 30ms);
    }
}

TEST_CASE_FIXTURE(PaceFixture, "accept pace: R17: after failures it waits longer each time") {
    Duration longest = 100ms;
    for (int i = 0; i < 6; ++i) {
        const Duration wait = fail(Errc::server_busy, 1ms);
        CHECK(wait >= longest / 2);
        CHECK(wait <= longest);
        longest = std::min<Duration>(longest * 2, 1s);
    }
    pace.succeeded();
    CHECK(fail(Errc::server_busy, 1ms) <= 100ms);
}

TEST_CASE_FIXTURE(PaceFixture, "accept pace: accepts that were under way together fail once") {
    const TimePoint asked = now;
    for (int i = 0; i < 40; ++i) {
        now += 1ms;
        CHECK(pace.failed(Errc::connection_lost, asked, now, random) == (i == 0)); // told once
    }
    CHECK(pace.wait_until() - asked <= 101ms);
    CHECK(pace.failed(Errc::unauthorized, asked, now, random)); // another reason
}

TEST_CASE_FIXTURE(PaceFixture, "accept pace: an accept that fails long after others is told") {
    const TimePoint asked = now;
    now += 1ms;
    CHECK(pace.failed(Errc::connection_lost, asked, now, random));
    now += 10s;
    CHECK(pace.failed(Errc::connection_lost, asked, now, random));
}

TEST_CASE_FIXTURE(PaceFixture, "accept pace: accepts whose connection is refused together are told "
                               "once") {
    const TimePoint asked = now;
    CHECK(pace.failed(Errc::connection_refused, asked, now, random));
    CHECK_FALSE(pace.failed(Errc::connection_refused, asked, now, random));
    now += 100ms;
    CHECK(pace.failed(Errc::connection_refused, now, now, random));
}

TEST_CASE_FIXTURE(PaceFixture,
                  "accept pace: a connection that cannot be made is waited for by the port") {
    for (int i = 0; i < 20; ++i) {
        CHECK(fail(Errc::connection_refused, 30s) == 0s); // the port's own wait
    }
    CHECK(fail(Errc::connection_refused, 10ms) == AcceptPace::min_interval - 10ms);
    CHECK(fail(Errc::server_busy, 1ms) <= 100ms); // what went before does not count
    CHECK(fail(Errc::no_session_available, 60s, false) == 0s);
}

TEST_CASE_FIXTURE(PaceFixture,
                  "accept pace: an accept that the other side cancelled is told to nobody") {
    CHECK(fail(Errc::cancelled, 0s, false) >= 50ms);
}
