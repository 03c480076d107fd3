// SPDX-License-Identifier: MIT
#include "servicebus/entity_codec.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "amqp/peek_wait.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using amqp::Value;

TEST_CASE("entity codec: a broker is told how long it may wait if its open offers that, else not") {
    const Value name = Value::symbol(std::string{amqp::peek_wait});
    const auto told = [&](Duration wait, const amqp::Map& open) {
        detail::servicebus::Request request{.wait = wait};
        detail::servicebus::offer_wait(request, amqp::encode(Value{open}));
        return request.properties;
    };
    CHECK(told(1s, {{name, false}}).empty());
    CHECK(told(1s, {{Value::symbol("product"), "x"}}).empty());
    CHECK(told(0s, {{name, true}}).empty());
    detail::servicebus::Request unopened{.wait = 1s};
    detail::servicebus::offer_wait(unopened, "");
    CHECK(unopened.properties.empty());
    const auto milliseconds = [&](Duration wait) {
        const amqp::Map properties = told(wait, {{Value::symbol("product"), "x"}, {name, true}});
        REQUIRE(properties.size() == 1);
        CHECK(properties.front().first == Value{amqp::peek_wait});
        return properties.front().second;
    };
    CHECK(milliseconds(1s) == Value{std::uint32_t{1000}});
    CHECK(milliseconds(Duration{1}) == Value{std::uint32_t{1}}); // not zero
    CHECK(milliseconds(Duration::max()) == Value{std::uint32_t{0xffffffff}});
}

TEST_CASE("entity codec: an answer without what was asked for is the broker's error") {
    const auto peeked = [](std::int64_t status, Value body) {
        const detail::servicebus::Response response{.status = status, .body = std::move(body)};
        const auto read = detail::servicebus::read_peeked(response, {}, "orders");
        return read ? std::to_string(read.value().size()) : read.failure().detail;
    };
    const std::string no_messages = "cannot peek 'orders': the broker's answer has no 'messages'";
    CHECK(peeked(204, {}) == "0");
    CHECK(peeked(200, Value::map({{"messages", amqp::List{}}})) == "0");
    CHECK(peeked(200, {}) == no_messages);
    CHECK(peeked(200, Value::map({{"messages", "text"}})) == no_messages);
    CHECK(peeked(200, Value::map({{"messages", amqp::List{Value::map({})}}})) ==
          "cannot peek 'orders': the broker's answer has no 'message'");

    const auto listed = [](std::int64_t status, Value body) {
        const detail::servicebus::Response response{.status = status, .body = std::move(body)};
        const auto read = detail::servicebus::read_session_ids(response, "orders");
        return read ? std::to_string(read.value().size()) : read.failure().detail;
    };
    CHECK(listed(204, {}) == "0");
    CHECK(listed(200, Value::map({{"sessions-ids", amqp::List{"a", "b"}}})) == "2");
    CHECK(listed(200, {}) ==
          "cannot list the sessions of 'orders': the broker's answer has no 'sessions-ids'");
}

TEST_CASE("entity codec: a deletion names its instant, its bound and its session") {
    const ports::DeleteMessagesRequest request{.max_messages = 500, .session_id = "a"};
    const amqp::Map body = detail::servicebus::deletion(request, amqp::Timestamp{7});
    CHECK(Value{body} == Value::map({{"message-count", std::int32_t{500}},
                                     {"enqueued-time-utc", amqp::Timestamp{7}},
                                     {"session-id", "a"}}));
    CHECK(detail::servicebus::deletion({}, amqp::Timestamp{7}).size() == 2);

    const auto deleted = [](std::int64_t status, Value answer) {
        const detail::servicebus::Response response{.status = status, .body = std::move(answer)};
        const auto read = detail::servicebus::read_deleted(response, WallTime{1h}, "orders");
        CHECK((!read || read.value().enqueued_before == WallTime{1h}));
        return read ? std::to_string(read.value().count) : read.failure().detail;
    };
    CHECK(deleted(200, Value::map({{"message-count", std::int32_t{3}}})) == "3");
    CHECK(deleted(202, {}) == "0");
    CHECK(deleted(204, {}) == "0");
    CHECK(deleted(400, {}) == "cannot delete messages of 'orders'");
    for (const Value& count : {Value{}, Value{std::int32_t{-1}}, Value{"3"}}) {
        CHECK(deleted(200, Value::map({{"message-count", count}})) ==
              "cannot delete messages of 'orders': the broker's answer has no 'message-count'");
    }
}
