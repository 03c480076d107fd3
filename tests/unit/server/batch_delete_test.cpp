// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "managed.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using std::chrono::seconds;

namespace {

Value deletion(const Managed& front, std::int64_t count, Duration later = seconds{1}) {
    return Value::map(
        {{"message-count", static_cast<std::int32_t>(count)},
         {"enqueued-time-utc",
          amqp::Timestamp::of(front.loop.wall_now() +
                              std::chrono::duration_cast<WallTime::duration>(later))}});
}

std::int64_t count_in(const Managed::Reply& reply) {
    const Value* const count = reply.body.find("message-count");
    REQUIRE(count != nullptr);
    return count->integer().value();
}

} // namespace

TEST_CASE("batch delete: a batch of the oldest messages is deleted; none is 204") {
    Managed front;
    front.put("orders", {message("a", "1"), message("b", "2"), message("a", "3")});
    CHECK(front.ask("batch-delete-messages", deletion(front, 10, seconds{-1})).status == 204);
    const auto two = front.ask("batch-delete-messages", deletion(front, 2));
    CHECK(two.status == 200);
    CHECK(count_in(two) == 2);
    CHECK(count_in(front.ask("batch-delete-messages", deletion(front, 4'000))) == 1);
    CHECK(front.ask("batch-delete-messages", deletion(front, 1)).status == 204);
    CHECK(front.counts("orders").active == 0);
}

TEST_CASE("batch delete: messages of one session are deleted, by its id or its link") {
    Managed front;
    front.put("orders", {message("a", "1"), message("b", "2"), message("c", "3")});
    Value of_a = Value::map({{"message-count", std::int32_t{10}},
                             {"enqueued-time-utc", amqp::Timestamp{253'402'300'799'999}},
                             {"session-id", "a"}});
    CHECK(count_in(front.ask("batch-delete-messages", of_a)) == 1);
    front.hold("b");
    CHECK(count_in(front.ask("batch-delete-messages", deletion(front, 10), "holder")) == 1);
    CHECK(front.counts("orders").active == 1);
    // A link that has lost its session does not mean all sessions.
    const auto lost = front.ask("batch-delete-messages", deletion(front, 10), "former");
    CHECK(lost.status == 410);
    CHECK(lost.condition == "com.microsoft:session-lock-lost");
    CHECK(front.counts("orders").active == 1);
}

TEST_CASE("batch delete: a large deletion goes on in turns, for its session only") {
    Managed front;
    std::vector<Message> many(1'200, message("a", "x"));
    many.push_back(message("b", "y"));
    front.put("orders", std::move(many));
    front.hold("a");
    CHECK(count_in(front.ask("batch-delete-messages", deletion(front, 4'000), "holder")) == 1'200);
    CHECK(front.counts("orders").active == 1);
}

TEST_CASE("batch delete: a deletion's refusal names the field") {
    Managed front;
    front.put("orders", {message("a", "1")});
    for (const std::int64_t count : {0, -1, 4'001}) {
        CAPTURE(count);
        const auto refused = front.ask("batch-delete-messages", deletion(front, count));
        CHECK(refused.status == 400);
        CHECK(refused.condition == "com.microsoft:argument-error");
        CHECK(refused.description ==
              "message-count must be 1 to 4000; it is " + std::to_string(count));
    }
    const auto without = [&](Value body) {
        return front.ask("batch-delete-messages", body).description;
    };
    CHECK(without(Value::map({{"message-count", std::int32_t{1}}})) ==
          "the request body needs 'enqueued-time-utc' of the right type");
    CHECK(without(Value::map({{"enqueued-time-utc", amqp::Timestamp{1}}})) ==
          "the request body needs 'message-count' of the right type");
    CHECK(front.counts("orders").active == 1);
}
