// SPDX-License-Identifier: MIT
#include "servicebus/conditions.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using detail::servicebus::to_failure;

TEST_CASE("to_failure: documented conditions have causes of their own, and the peer's words are "
          "kept apart") {
    const Failure failure = to_failure(
        {.name = "com.microsoft:session-cannot-be-locked", .text = "held"}, "session 'a'");
    CHECK(failure.code == Errc::session_locked_elsewhere);
    CHECK(failure.detail == "session 'a'");
    CHECK(failure.peer_condition == "com.microsoft:session-cannot-be-locked");
    CHECK(failure.peer_text == "held");
    CHECK(to_failure({.name = "com.microsoft:timeout"}, "").code ==
          Errc::timeout); // what was asked for decides whether it means more
    CHECK(to_failure({.name = "com.microsoft:session-lock-lost"}, "").code == Errc::lock_lost);
    CHECK(to_failure({.name = "com.microsoft:server-busy"}, "").retryable());
    CHECK(to_failure({.name = "amqp:resource-limit-exceeded"}, "").code == Errc::quota_exceeded);
    CHECK(to_failure({.name = "amqp:not-found"}, "").code == Errc::entity_not_found);
    CHECK(to_failure({.name = "amqp:unauthorized-access"}, "").code == Errc::unauthorized);
}

TEST_CASE("to_failure: a detach without a reason is a lost link, worth another try; an unknown "
          "condition is the protocol's fault") {
    CHECK(to_failure({}, "x").code == Errc::connection_lost);
    CHECK(to_failure({}, "x").retryable());
    CHECK(to_failure({.name = "vendor:odd"}, "x").code == Errc::protocol_error);
}

TEST_CASE("to_failure: what this side found is not taken for the peer's word") {
    const Failure silent = to_failure({.name = "amqp:resource-limit-exceeded",
                                       .text = "nothing came",
                                       .found = Errc::connection_lost},
                                      "the way");
    CHECK(silent.code == Errc::connection_lost); // not the queue's quota
    CHECK(silent.retryable());
    CHECK(silent.detail == "the way: nothing came");
    CHECK(silent.peer_condition.empty());
    CHECK(silent.peer_text.empty());
}

TEST_CASE("to_failure: what is not allowed for its sessions' sake is told apart from what an "
          "entity does not do") {
    const auto code = [](const char* text) {
        return to_failure({.name = "amqp:not-allowed", .text = text}, "").code;
    };
    CHECK(code("A sessionful message receiver cannot be created on an entity that does not require "
               "sessions.") == Errc::session_required);
    CHECK(code("It is not possible for an entity that requires sessions to create a non-sessionful "
               "message receiver.") == Errc::session_required);
    CHECK(code("The SessionId was not set on a message, and it cannot be sent to the entity.") ==
          Errc::session_required);
    CHECK(code("entity 'news': a topic cannot be received from; receive from its subscriptions") ==
          Errc::not_supported);
    CHECK(code("entity 'news/Subscriptions/all': a subscription cannot be sent to; send to its "
               "topic") == Errc::not_supported);
    CHECK(code("entity 'on': its messages are forwarded to 'end'") == Errc::not_supported);
    CHECK(code("") == Errc::session_required);
}
