// SPDX-License-Identifier: MIT
#include <sessionq/message_batch.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "client/sending/wire_size.hpp"
#include "core/access.hpp"
#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

std::vector<Message> messages_of(MessageBatch batch) {
    return detail::client::Access::take_messages(std::move(batch));
}

} // namespace

TEST_CASE("message batch: counts what its messages take in AMQP's form, and takes no more") {
    MessageBatch batch{2'000};
    int added = 0;
    while (batch.add_if_fits(Message::of(std::string(100, 'x')).in_session("ada"))) {
        ++added;
        CHECK(batch.size() == static_cast<std::size_t>(added));
        CHECK(batch.bytes() <= 2'000);
    }
    CHECK(added > 5);
    CHECK(batch.bytes() > 1'700);
    const std::uint64_t bytes = batch.bytes();
    CHECK_FALSE(batch.add_if_fits(Message::of(std::string(2'000, 'x')).in_session("ada")));
    CHECK(batch.bytes() == bytes); // unchanged
    const auto messages = messages_of(std::move(batch));
    CHECK(detail::client::sent_wire_size({.messages = messages}) == bytes);
}

TEST_CASE("message batch: counts values and sequences in AMQP's form, as bytes") {
    MessageBatch batch{0};
    REQUIRE(batch.add_if_fits(
        Message::of_value(AmqpMap{{"text", std::string(300, 'x')}, {"list", AmqpList{1, 2}}})
            .in_session("ada")));
    REQUIRE(batch.add_if_fits(
        Message::of_sequence(AmqpList(100, AmqpValue{"item"})).in_session("ada")));
    const std::uint64_t bytes = batch.bytes();
    CHECK(bytes > 300 + 100 * 4);
    const auto messages = messages_of(std::move(batch));
    CHECK(detail::client::sent_wire_size({.messages = messages}) == bytes);
}

TEST_CASE("message batch: one message is no batch, and may be as large as the limit") {
    MessageBatch sized{0};
    Message large{.body = std::string(900, 'x'), .session_id = "a", .message_id = "1"};
    REQUIRE(sized.add_if_fits(large));
    MessageBatch exact{sized.bytes()};
    CHECK(exact.add_if_fits(large));
    CHECK(exact.bytes() == exact.max_bytes());
    MessageBatch short_by_one{sized.bytes() - 1};
    CHECK_FALSE(short_by_one.add_if_fits(large));
    CHECK(short_by_one.empty());
}

TEST_CASE("message batch: a message gets its id, deadline and trace when it is added") {
    MessageBatch batch{0};
    const TraceContext trace{.traceparent =
                                 "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
    const Deadline deadline = Deadline::after(1h, TimePoint{1h});
    {
        const OperationContext::Scope scope{OperationContext{deadline}.with_trace(trace)};
        REQUIRE(batch.add_if_fits(Message::of("x").in_session("ada")));
    }
    const auto messages = messages_of(std::move(batch));
    CHECK_FALSE(messages.front().message_id.empty());
    CHECK(messages.front().deadline == deadline);
    CHECK_FALSE(messages.front().properties.empty());
}

TEST_CASE("message batch: an invalid message throws, and any number of messages is taken") {
    MessageBatch batch{0};
    CHECK(code_of([&] {
              static_cast<void>(
                  batch.add_if_fits(Message::of("").in_session(std::string(129, 'x'))));
          }) == Errc::invalid_argument);
    CHECK(code_of([&] {
              static_cast<void>(batch.add_if_fits({.scheduled_enqueue_time = WallTime{}}));
          }) == Errc::invalid_argument);
    for (std::size_t i = 0; i < 5'000; ++i) {
        REQUIRE(batch.add_if_fits({.body = "x", .session_id = "a", .message_id = "same"}));
    }
    CHECK(batch.size() == 5'000);
}

TEST_CASE("sender: where a message may be larger than a batch, such a one is alone in its batch") {
    LocalBroker broker;
    constexpr std::size_t mega = std::size_t{1} << 20U;
    broker.create_queue("orders", {.requires_session = true, .max_message_bytes = 3 * mega});
    const Client client = Client::in_process(broker);
    const Sender sender{client, "orders"};
    MessageBatch batch = sender.create_batch();
    CHECK(batch.max_bytes() == mega);
    const Message large = Message::of(std::string(2 * mega, 'x')).in_session("a");
    CHECK_FALSE(sender.create_batch(mega).add_if_fits(large));
    CHECK_FALSE(batch.add_if_fits(Message::of(std::string(3 * mega, 'x')).in_session("a")));
    REQUIRE(batch.add_if_fits(large));
    CHECK_FALSE(batch.add_if_fits(Message::of("small").in_session("a")));
    sender.send(std::move(batch));
    CHECK(code_of([&] {
              sender.send_all({large, Message::of("small").in_session("a")});
          }) == Errc::message_too_large);
    CHECK(broker.counts("orders").active == 1);
}

TEST_CASE("sender: a batch has the entity's limit, is sent whole, and a larger list is refused") {
    OrdersFixture f;
    MessageBatch batch = f.sender.create_batch();
    CHECK(batch.max_bytes() == 1U << 20U);
    CHECK(f.sender.create_batch(1'000).max_bytes() == 1'000);
    CHECK(code_of([&] { static_cast<void>(f.sender.create_batch(2U << 20U)); }) ==
          Errc::invalid_argument);
    std::vector<Message> too_many;
    for (int i = 0; i < 12; ++i) {
        too_many.push_back(Message::of(std::string(100'000, 'x')).in_session("a"));
        static_cast<void>(batch.add_if_fits(too_many.back()));
    }
    CHECK(batch.size() == 10);
    CHECK(code_of([&] { f.sender.send_all(too_many); }) == Errc::message_too_large);
    CHECK(f.broker.counts("orders").active == 0);
    f.sender.send(batch);
    CHECK(f.broker.counts("orders").active == 10);
    CHECK(batch.size() == 10); // it can be sent again
    f.sender.send(std::move(batch));
    CHECK(f.broker.counts("orders").active == 20);
    CHECK(batch.empty()); // NOLINT(bugprone-use-after-move): it may be filled again
    CHECK(batch.bytes() == 0);
    f.sender.send(MessageBatch{0}); // nothing to do
}
