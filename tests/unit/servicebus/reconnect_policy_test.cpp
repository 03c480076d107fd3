#include <doctest/doctest.h>

#include "servicebus/reconnect_policy.hpp"

using namespace sessionq;
using namespace sessionq::servicebus;
using namespace std::chrono_literals;

namespace {

constexpr BackoffOptions options{.min = 100ms, .max = 2s};

/// Attempts within a minute when each connection lives for `life`; a negative one is never made.
int attempts_in_a_minute(Duration life) {
    ReconnectPolicy policy{options};
    core::Random random{7};
    const TimePoint start{};
    TimePoint now = start;
    int attempts = 0;
    for (; now < start + 60s; ++attempts) {
        if (life >= Duration::zero()) {
            policy.opened(now);
            now += life;
        }
        now = policy.failed(now, random);
    }
    return attempts;
}

} // namespace

TEST_CASE("R17: waits between failed attempts grow from half of min to max") {
    ReconnectPolicy policy{options};
    core::Random random{1};
    const TimePoint now{};
    for (const Duration full : {100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) {
        const Duration wait = policy.failed(now, random) - now;
        CHECK(wait >= full / 2);
        CHECK(wait <= full);
    }
}

TEST_CASE("R17: attempts in a minute are bounded, whether connections are refused, cut at once or "
          "cut after a while") {
    CHECK(attempts_in_a_minute(-1ms) <= 66); // a wait of a second at least, after some shorter ones
    CHECK(attempts_in_a_minute(0ms) <= 66);
    CHECK(attempts_in_a_minute(500ms) <= 44);
    CHECK(attempts_in_a_minute(1s) <= 58);
}

TEST_CASE("ReconnectPolicy: a connection that lasted is made anew without a long wait") {
    ReconnectPolicy policy{options};
    core::Random random{3};
    TimePoint now{};
    for (int i = 0; i < 10; ++i) {
        now = policy.failed(now, random);
    }
    policy.opened(now);
    now += 1s;
    CHECK(policy.failed(now, random) - now <= 100ms);
}
