// SPDX-License-Identifier: MIT
#include "ports/delivery.hpp"

#include <doctest/doctest.h>

using namespace sessionq::ports;

TEST_CASE("delivery: every outcome has its word") {
    CHECK(to_string(Outcome::complete) == "complete");
    CHECK(to_string(Outcome::abandon) == "abandon");
    CHECK(to_string(Outcome::release) == "release");
    CHECK(to_string(Outcome::defer) == "defer");
    CHECK(to_string(Outcome::dead_letter) == "dead-letter");
}

TEST_CASE("delivery: goes back to whoever allocated it, whatever it is there") {
    struct Own final : Delivery {
        explicit Own(bool& flag) : freed{flag} {}
        ~Own() override { freed = true; }
        bool& freed;
    };
    bool freed = false;
    DeliveryPtr delivery = std::make_unique<Own>(freed);
    CHECK(delivery->message.empty());
    CHECK(delivery->bytes == 0);
    CHECK_FALSE(delivery->settled_by_sender);
    delivery.reset();
    CHECK(freed);
}

TEST_CASE("delivery: an unspecified settlement completes") {
    CHECK(Settlement{}.outcome == Outcome::complete);
}
