// SPDX-License-Identifier: MIT
#include "amqp/condition_failure.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace sessionq;
using amqp::ConditionRow;
using amqp::to_failure;

TEST_CASE("condition failure: a dialect's rows come before those of the standard") {
    const std::array rows{ConditionRow{"vendor:busy", Errc::server_busy},
                          ConditionRow{"amqp:link:stolen", Errc::session_locked_elsewhere}};
    CHECK(to_failure({.name = "vendor:busy"}, "it", rows).code == Errc::server_busy);
    CHECK(to_failure({.name = "amqp:link:stolen"}, "it", rows).code ==
          Errc::session_locked_elsewhere);
    CHECK(to_failure({.name = "amqp:link:stolen"}, "it", {}).code == Errc::lock_lost);
    const Failure unknown = to_failure({.name = "vendor:new", .text = "why"}, "it", rows);
    CHECK(unknown.code == Errc::protocol_error);
    CHECK(unknown.detail == "it");
    CHECK(unknown.peer_condition == "vendor:new");
    CHECK(unknown.peer_text == "why");
}

TEST_CASE("condition failure: no reason is a loss; what this side found keeps its cause") {
    const Failure none = to_failure({}, "it", {});
    CHECK(none.code == Errc::connection_lost);
    CHECK(none.detail == "it: the broker gave no reason");
    const Failure ours = to_failure(
        {.name = "amqp:link:stolen", .text = "too late", .found = Errc::timeout}, "it", {});
    CHECK(ours.code == Errc::timeout);
    CHECK(ours.detail == "it: too late");
    CHECK(ours.peer_condition.empty());
}
