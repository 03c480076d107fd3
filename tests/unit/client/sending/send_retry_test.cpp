// SPDX-License-Identifier: MIT
#include "client/sending/send_retry.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::SendRetry;

namespace {

constexpr TimePoint now{1h};
const Failure busy{.code = Errc::server_busy, .detail = "busy"};
const Failure lost{.code = Errc::connection_lost, .detail = "lost", .outcome_unknown = true};

SendRetry of(std::uint32_t tries, UnknownOutcome unknown_outcome = UnknownOutcome::fail) {
    return {SenderOptions{.max_attempts = tries,
                          .backoff = {.min = 1s, .max = 4s},
                          .unknown_outcome = unknown_outcome},
            7};
}

} // namespace

TEST_CASE("send retry: after a failure that may pass, later and later, up to the number of tries") {
    SendRetry retry = of(4);
    for (const Duration full : {1s, 2s, 4s}) {
        const auto next = retry.failed(busy, now, {});
        REQUIRE(next);
        CHECK(*next >= now + full / 2);
        CHECK(*next <= now + full);
    }
    CHECK_FALSE(retry.failed(busy, now, {}));
    CHECK(retry.last_failure().code == Errc::server_busy);
    CHECK(retry.last_failure().detail == "busy (after 4 tries)");
    CHECK_FALSE(retry.last_failure().outcome_unknown);
}

TEST_CASE("send retry: not after a refusal, nor beyond the deadline, nor once it was given up") {
    SendRetry refused = of(4);
    CHECK_FALSE(refused.failed({.code = Errc::message_too_large, .detail = "x"}, now, {}));
    CHECK(refused.last_failure().detail == "x"); // one try needs no word
    CHECK_FALSE(of(4).failed(busy, now, Deadline::at(now + 100ms)));
    CHECK(of(4).failed(busy, now, Deadline::at(now + 10s)));
    CHECK_FALSE(of(4).failed({.code = Errc::timeout}, now, {}));
    SendRetry given_up = of(4);
    given_up.give_up();
    CHECK_FALSE(given_up.failed(busy, now, {}));
}

TEST_CASE("send retry: what the broker may have is sent again only if that is wanted") {
    CHECK_FALSE(of(4).failed(lost, now, {}));
    SendRetry resends = of(4, UnknownOutcome::resend);
    CHECK(resends.failed(lost, now, {}));
    CHECK_FALSE(resends.failed({.code = Errc::unauthorized}, now, {}));
    CHECK(resends.last_failure().code == Errc::unauthorized);
    CHECK(resends.last_failure().outcome_unknown); // of the first try
}
