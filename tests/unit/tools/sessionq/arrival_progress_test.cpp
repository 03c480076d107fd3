// SPDX-License-Identifier: MIT
#include "tools/sessionq/arrival_progress.hpp"

#include <doctest/doctest.h>

#include <set>

#include <sessionq/error.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/sender.hpp>

#include "core/random.hpp"
#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("number set: knows each number, however they follow one another") {
    cli::NumberSet set;
    for (const auto number :
         std::vector<std::int64_t>{5, 6, 8, 7, 1, 4, INT64_MAX, INT64_MIN, 9, 0, -1}) {
        CHECK(set.add(number));
        CHECK_FALSE(set.add(number));
    }
    cli::NumberSet many;
    std::set<std::int64_t> known;
    core::Random random{1};
    for (int i = 0; i < 5'000; ++i) {
        const auto number = static_cast<std::int64_t>(random.below(2'000));
        CHECK(many.add(number) == known.insert(number).second);
    }
}

TEST_CASE("arrival progress: messages that came before are none") {
    LocalBroker broker;
    broker.create_queue("plain", {.requires_session = false});
    const Client client = Client::in_process(broker);
    Sender sender{client, "plain"};
    sender.send(Message{.body = "1"});
    sender.send(Message{.body = "2"});
    Receiver receiver = Receiver::open(client, "plain");
    std::vector<LockedMessage> messages = receiver.receive(1, 1s);
    cli::ArrivalProgress progress{"plain"};
    progress.add({});
    progress.add(messages);
    CHECK(test::code_of([&] { progress.add(messages); }) == Errc::protocol_error);
    messages.push_back(*receiver.receive_one(1s));
    progress.add(messages); // one is new
    CHECK(test::code_of([&] { progress.add(messages); }) == Errc::protocol_error);
    progress.add({});
}

TEST_CASE("arrival progress: a few sessions without messages are usual, more are none") {
    cli::ArrivalProgress progress{"orders"};
    for (int i = 0; i < 100; ++i) {
        progress.end_session(0);
    }
    progress.end_session(1);
    for (int i = 0; i < 100; ++i) {
        progress.end_session(0);
    }
    CHECK(test::code_of([&] { progress.end_session(0); }) == Errc::protocol_error);
}
