#include "groups/host_rotation.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using groups::HostRotation;

namespace {

constexpr TimePoint start{1000s};
constexpr BackoffOptions backoff{.min = 100ms, .max = 1s};

} // namespace

TEST_CASE("host rotation: hosts are tried in order, without a wait within a round") {
    HostRotation rotation{3, backoff, 1};
    CHECK(rotation.host() == 0);
    CHECK(rotation.not_before() <= start);
    CHECK_FALSE(rotation.failed(start));
    CHECK(rotation.host() == 1);
    CHECK_FALSE(rotation.failed(start));
    CHECK(rotation.host() == 2);
    CHECK(rotation.not_before() <= start);
    CHECK(rotation.failed(start));
    CHECK(rotation.host() == 0);
}

TEST_CASE("host rotation: R17: rounds that bring nothing are spaced more and more, up to a limit") {
    HostRotation rotation{2, backoff, 1};
    TimePoint now = start;
    Duration expected = backoff.min;
    for (int round = 0; round < 8; ++round) {
        static_cast<void>(rotation.failed(now));
        CHECK(rotation.failed(now));
        const Duration wait = rotation.not_before() - now;
        CHECK(wait >= expected / 2);
        CHECK(wait <= expected);
        expected = std::min<Duration>(expected * 2, backoff.max);
        now = rotation.not_before();
    }
}

TEST_CASE(
    "host rotation: after the loss of a connection that lasted the first host is tried at once") {
    HostRotation rotation{2, backoff, 1};
    static_cast<void>(rotation.failed(start));
    rotation.connected(start);
    rotation.lost(start + 1s);
    CHECK(rotation.host() == 0);
    CHECK(rotation.not_before() <= start + 1s);
}

TEST_CASE("host rotation: R17: connections that do not last are spaced like refusals") {
    HostRotation rotation{1, backoff, 1};
    TimePoint now = start;
    Duration last{};
    for (int i = 0; i < 6; ++i) {
        rotation.connected(now);
        rotation.lost(now);
        last = rotation.not_before() - now;
        CHECK(last >= backoff.min / 2);
        now = rotation.not_before();
    }
    CHECK(last >= backoff.max / 2);
    CHECK(last <= backoff.max);
}
