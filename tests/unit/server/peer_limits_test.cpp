// SPDX-License-Identifier: MIT
// R26: what happens to a connection that meets a bound of its server.
#include <doctest/doctest.h>

#include "front.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::SaslCredentials;
using amqp::Value;
using std::chrono::seconds;

namespace {

constexpr auto stranger = SaslCredentials::Mechanism::anonymous;

constexpr std::string_view limit_exceeded = "amqp:resource-limit-exceeded";

bool is_told(const Front& front, std::string_view what) {
    return front.seen.closed == 1 && front.seen.why.name == limit_exceeded &&
           front.seen.why.text.find(what) != std::string::npos;
}

/// A client whose requests to a node are answered into a link without credit.
struct Asking : Front {
    explicit Asking(server::Limits limits = {}) : Front{limits} {
        enter();
        put("plain", {Message{.body = std::string(10'000, 'x')}});
        answers = &receive("answers", "plain/$management");
        requests = &send("requests", "plain/$management");
    }
    void peek() {
        requests->sender->send(std::to_string(++tags),
                               request(Value{std::uint64_t{1}}, "answers",
                                       Value::map({{"operation", "com.microsoft:peek-message"}}),
                                       Value::map({{"from-sequence-number", std::int64_t{0}},
                                                   {"message-count", std::int32_t{1}}})),
                               true);
        run();
    }

    LinkLog* answers{nullptr};
    LinkLog* requests{nullptr};
    int tags{0};
};

} // namespace

TEST_CASE("Limits: a connection without a claim may begin so many AMQP sessions, and no more") {
    Front front{{.sessions_before_claim = 2}, stranger};
    front.enter();
    auto second = front.client.begin_session();
    front.run();
    CHECK(front.seen.closed == 0);
    auto third = front.client.begin_session();
    front.run();
    CHECK(is_told(front, "more AMQP sessions than it may before a token is accepted"));
    second.reset();
    third.reset();
}

TEST_CASE("Limits: with a claim a connection may begin more AMQP sessions") {
    Front front{{.sessions_before_claim = 2}};
    front.enter();
    auto second = front.client.begin_session();
    auto third = front.client.begin_session();
    front.run();
    CHECK(front.seen.closed == 0);
    second.reset();
    third.reset();
}

TEST_CASE("Limits: a peer that has sent much and no valid token is cut off") {
    Front front{{.bytes_before_claim = 2000}, stranger};
    front.enter();
    LinkLog& requests = front.send("requests", "$cbs");
    REQUIRE(requests.opened);
    const std::string body(600, 'x');
    requests.sender->send("1", body, true);
    front.run();
    CHECK(front.ended == 0);
    requests.sender->send("2", body, true);
    requests.sender->send("3", body, true);
    front.run();
    CHECK(front.ended == 1);
    CHECK(front.context.strikes.describe() ==
          "1 times: a peer has sent 2000 bytes and no valid token\n");
}

TEST_CASE("Limits: requests wait while their answers are not read, and are answered in order") {
    Asking asking{{.unread_answers = 25'000}};
    for (int i = 0; i < 5; ++i) {
        asking.peek();
    }
    CHECK(asking.connection->is_quiet());
    CHECK(asking.requests->sender->credit() == 98); // three were answered
    asking.answers->receiver->add_credit(2);
    asking.run();
    CHECK(asking.answers->messages.size() == 2);
    CHECK(asking.requests->sender->credit() == 100);
    asking.answers->receiver->add_credit(10);
    asking.run();
    CHECK(asking.answers->messages.size() == 5);
    CHECK(asking.seen.closed == 0);
}

TEST_CASE("Limits: a request link that goes while requests wait takes them with it") {
    Asking asking{{.unread_answers = 1}};
    for (int i = 0; i < 5; ++i) {
        asking.peek();
    }
    asking.requests->sender->close();
    asking.run();
    asking.answers->receiver->add_credit(10);
    asking.run();
    CHECK(asking.answers->messages.size() == 1);
    CHECK(asking.seen.closed == 0);
}

TEST_CASE("Limits: a client that takes more memory than a connection may is told the bound") {
    Front front{{.memory = {.connection = 60'000}}};
    front.enter();
    std::vector<amqp::SessionPtr> sessions;
    const auto begin = [&](int count) {
        for (int i = 0; i < count; ++i) {
            sessions.push_back(front.client.begin_session());
        }
        front.run();
    };
    begin(5);
    CHECK(front.seen.closed == 0);
    begin(10);
    CHECK(is_told(front, "memory that the broker keeps for this connection exceeds 58 KiB"));
    CHECK(front.context.memory.all() == 0);
    sessions.clear();
}

TEST_CASE("Limits: a connection's memory is counted and given back") {
    Asking asking;
    const std::size_t before = asking.context.memory.all();
    CHECK(before > 8192);
    asking.peek();
    asking.peek();
    CHECK(asking.context.memory.all() > before + 20'000); // two answers wait
    CHECK(asking.context.memory.unclaimed() == 0);
    asking.stream->hang_up();
    asking.run();
    CHECK(asking.ended == 1);
    CHECK(asking.context.memory.all() == 0);
    CHECK(asking.context.admission.guests() == 0);
}

TEST_CASE("Limits: long names of links and addresses are refused, and the link's owner is told") {
    Front front{{.name_bytes = 20}};
    front.enter();
    CHECK(front.receive(std::string(20, 'n'), "plain").opened);
    LinkLog& refused = front.receive(std::string(21, 'n'), "plain");
    CHECK(refused.closed);
    CHECK(refused.why.name == "amqp:invalid-field");
    CHECK(refused.why.text == "the link's name or an address is longer than 20 bytes");
    CHECK(front.send("s", std::string(21, 'a')).why.name == "amqp:invalid-field");
}

TEST_CASE("Limits: a server that has all its connections ends the next one at once") {
    Front first{};
    first.enter();
    auto stream = std::make_shared<HeldStream>(first.loop);
    int ended = 0;
    std::unique_ptr<server::PeerConnection> second;
    const auto end = [&](server::PeerConnection&) {
        second.reset();
        ++ended;
    };
    second = std::make_unique<server::PeerConnection>(first.context, first.host, stream, end);
    first.run();
    CHECK(ended == 0);
    second.reset();
    Front full{{.admission = {.connections = 1}}};
    full.enter();
    second = std::make_unique<server::PeerConnection>(full.context, full.host,
                                                      std::make_shared<HeldStream>(full.loop), end);
    full.run();
    CHECK(ended == 1);
    CHECK(full.seen.closed == 0);
    CHECK(full.context.strikes.describe() == "1 times: the broker has 1 connections\n");
}

TEST_CASE("Limits: a newcomer gives way to the next") {
    Front front{{.admission = {.newcomers = 1, .newcomers_per_address = 1}}, stranger};
    front.run();
    int ended = 0;
    std::unique_ptr<server::PeerConnection> next = std::make_unique<server::PeerConnection>(
        front.context, front.host, std::make_shared<HeldStream>(front.loop),
        [&](server::PeerConnection&) { ++ended; });
    front.run();
    CHECK(front.ended == 1);
    CHECK(ended == 0);
    next.reset();
}

TEST_CASE(
    "Limits: a connection without AMQP sessions ends without a turn, so strangers that leave do "
    "not pile up") {
    Front front{{}, stranger};
    front.run();
    int turns = 0;
    for (int i = 0; i < 10; ++i) {
        front.host.turns().add([&] { turns += front.ended == 0 ? 1 : 0; });
    }
    front.connection->abort({.name = "amqp:connection:forced"});
    front.loop.run_until_idle();
    CHECK(front.ended == 1);
    CHECK(turns < 3);
}
