// SPDX-License-Identifier: MIT
#include "servicebus/first_credit_trial.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::servicebus::FirstCreditTrial;

namespace {

const TimePoint begin{1h};

amqp::Condition lost() {
    return {.name = "amqp:connection:forced", .found = Errc::connection_lost};
}

} // namespace

TEST_CASE("first credit trial: a refusal that may be for the credit is tried without it") {
    for (const char* name : {"amqp:not-allowed", "amqp:illegal-state", "amqp:not-implemented",
                             "amqp:invalid-field", "amqp:connection:framing-error"}) {
        CAPTURE(name);
        FirstCreditTrial trial;
        CHECK(trial.may_give());
        CHECK(trial.ended({.name = name}, begin, begin + 1s));
        CHECK(trial.may_give()); // the other try tells
        trial.taken_without();
        CHECK_FALSE(trial.may_give());
    }
}

TEST_CASE("first credit trial: an answer about the session, and a broker that stops, say nothing "
          "of the credit") {
    for (const char* name :
         {"com.microsoft:timeout", "com.microsoft:session-cannot-be-locked", "amqp:not-found",
          "amqp:unauthorized-access", "amqp:resource-limit-exceeded", "amqp:connection:forced",
          "amqp:link:detach-forced", ""}) {
        CAPTURE(name);
        FirstCreditTrial trial;
        CHECK_FALSE(trial.ended({.name = name}, begin, begin + 1s));
        CHECK(trial.may_give());
    }
}

TEST_CASE("first credit trial: two connections that end in a row before any answer") {
    FirstCreditTrial trial;
    for (int accept = 0; accept < 8; ++accept) { // they end together
        CHECK_FALSE(trial.ended(lost(), begin, begin + 1s));
    }
    CHECK(trial.may_give());
    CHECK_FALSE(trial.ended(lost(), begin + 2s, begin + 3s));
    CHECK_FALSE(trial.may_give());
}

TEST_CASE("first credit trial: a broker that has taken it once can do it") {
    FirstCreditTrial trial;
    CHECK_FALSE(trial.ended(lost(), begin, begin + 1s));
    trial.taken();
    CHECK_FALSE(trial.ended(lost(), begin + 2s, begin + 3s));
    CHECK_FALSE(trial.ended({.name = "amqp:not-allowed"}, begin + 2s, begin + 3s));
    CHECK(trial.may_give());
}
