// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "groups/conditions.hpp"

using namespace sessionq;
using groups::to_failure;

TEST_CASE("conditions: the peer's words are kept apart from ours") {
    const Failure failure =
        to_failure({.name = "amqp:not-found", .text = "no such queue"}, "'orders'");
    CHECK(failure.code == Errc::entity_not_found);
    CHECK(failure.detail == "'orders'");
    CHECK(failure.peer_condition == "amqp:not-found");
    CHECK(failure.peer_text == "no such queue");
}

TEST_CASE("conditions: a finding of this side becomes part of the detail") {
    const Failure failure = to_failure({.name = "amqp:connection:framing-error",
                                        .text = "no frames",
                                        .found = Errc::protocol_error},
                                       "'host'");
    CHECK(failure.code == Errc::protocol_error);
    CHECK(failure.detail == "'host': no frames");
    CHECK(failure.peer_condition.empty());
    CHECK(failure.peer_text.empty());
}

TEST_CASE("conditions: an end without a reason is a lost connection, and an unknown reason is a "
          "protocol error") {
    CHECK(to_failure({}, "'orders'").code == Errc::connection_lost);
    CHECK(to_failure({.name = "vendor:odd"}, "'orders'").code == Errc::protocol_error);
    CHECK(to_failure({.name = "amqp:connection:forced"}, "'orders'").code == Errc::connection_lost);
}
