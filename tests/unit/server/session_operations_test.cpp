// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "managed.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using std::chrono::seconds;

TEST_CASE("session operations: a session lock is renewed by session id or by receiver link") {
    Managed front;
    front.hold("a");
    front.pass(seconds{20});
    const auto by_id = front.ask("renew-session-lock", Value::map({{"session-id", "a"}}));
    CHECK(by_id.status == 200);
    const Value* until = by_id.body.find("expiration");
    REQUIRE(until != nullptr);
    CHECK(*until == Value{amqp::Timestamp::of(front.loop.wall_now() + seconds{30})});
    front.pass(seconds{20});
    CHECK(front.ask("renew-session-lock", amqp::Map{}, "holder").status == 200);
    const auto other = front.ask("renew-session-lock", Value::map({{"session-id", "b"}}));
    CHECK(other.status == 410);
    CHECK(other.condition == "com.microsoft:session-lock-lost");
}

TEST_CASE("session operations: session state is bytes; null and no bytes clear it") {
    Managed front;
    front.hold("a");
    const auto state = [&] {
        return *front.ask("get-session-state", Value::map({{"session-id", "a"}}))
                    .body.find("session-state");
    };
    CHECK(state().is_null());
    const auto set = [&](Value value) {
        return front
            .ask("set-session-state",
                 Value::map({{"session-id", "a"}, {"session-state", std::move(value)}}))
            .status;
    };
    for (const Value& nothing : {Value{}, Value::binary("")}) {
        CHECK(set(Value::binary("step 3")) == 200);
        CHECK(state() == Value::binary("step 3"));
        CHECK(set(nothing) == 200);
        CHECK(state().is_null());
    }
    CHECK(front.ask("get-session-state", Value::map({{"session-id", "b"}})).status == 410);
}

TEST_CASE(
    "session operations: a link that lost the session cannot act for the link that holds it now") {
    Managed front;
    LinkLog& first = front.hold("a");
    first.receiver->close();
    front.run();
    front.receive("second", Managed::by_session("orders", "a"));
    const Value state = Value::map({{"session-id", "a"}, {"session-state", Value::binary("late")}});
    CHECK(front.ask("set-session-state", state, "holder").status == 410);
    CHECK(front.ask("renew-session-lock", Value::map({{"session-id", "a"}}), "holder").status ==
          410);
    CHECK(front.ask("get-session-state", Value::map({{"session-id", "a"}}), "second")
              .body.find("session-state")
              ->is_null());
    CHECK(front.ask("set-session-state", state, "second").status == 200);
}

TEST_CASE("session operations: sessions are listed by page, the empty id included") {
    Managed front;
    const auto list = [&](std::int32_t skip, std::int32_t top) {
        return front.ask("get-message-sessions",
                         Value::map({{"last-updated-time", amqp::Timestamp{253402300799999}},
                                     {"skip", skip},
                                     {"top", top}}));
    };
    CHECK(list(0, 10).status == 204);
    front.put("orders", {message("a", "1"), message("", "2"), message("c", "3")});
    const auto first = list(0, 2);
    CHECK(first.status == 200);
    REQUIRE(first.body.find("sessions-ids") != nullptr);
    CHECK(*first.body.find("sessions-ids")->items() == std::vector<Value>{"a", ""});
    CHECK(*list(2, 2).body.find("sessions-ids")->items() == std::vector<Value>{"c"});
    CHECK(list(3, 2).status == 204);
}

TEST_CASE("session operations: sessions are listed by the time of their state") {
    Managed front;
    front.put("orders", {message("a", "1"), message("b", "2")});
    const auto list = [&] {
        return front.ask("get-message-sessions",
                         Value::map({{"last-updated-time", amqp::Timestamp{1}},
                                     {"skip", std::int32_t{0}},
                                     {"top", std::int32_t{10}}}));
    };
    CHECK(list().status == 204); // neither has state
    front.hold("b");
    const Value state = Value::map({{"session-id", "b"}, {"session-state", Value::binary("1")}});
    CHECK(front.ask("set-session-state", state, "holder").status == 200);
    CHECK(*list().body.find("sessions-ids")->items() == std::vector<Value>{"b"});
}

TEST_CASE("session operations: a page of sessions has at most so many ids") {
    Managed front{"orders", {.sessions_per_page = 2}};
    front.put("orders", {message("a", "1"), message("b", "2"), message("c", "3")});
    const auto list = [&](std::int32_t skip) {
        const auto page = front.ask("get-message-sessions",
                                    Value::map({{"skip", skip}, {"top", std::int32_t{1'000'000}}}));
        REQUIRE(page.status == 200);
        return *page.body.find("sessions-ids")->items();
    };
    CHECK(list(0) == std::vector<Value>{"a", "b"});
    CHECK(list(2) == std::vector<Value>{"c"});
    CHECK(server::Limits{}.sessions_per_page == 1000);
}
