// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "front.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using std::chrono::seconds;

namespace {

/// A client that has no rights but those of the tokens it puts. A token's text is its life in
/// seconds.
struct TokenFront : Front {
    explicit TokenFront(server::Limits limits = {})
        : Front{limits, amqp::SaslCredentials::Mechanism::anonymous} {
        context.access.verifier = [](std::string_view token, std::string_view, WallTime now) {
            return std::optional{now + seconds{std::stoi(std::string{token})}};
        };
        enter();
        answers = &receive("answers", "$cbs");
        answers->receiver->add_credit(10);
        requests = &send("requests", "$cbs");
    }

    void say_token(const char* token, const char* audience) {
        requests->sender->send(
            std::to_string(++tags),
            request(Value{std::uint64_t{1}}, "answers",
                    Value::map({{"operation", "put-token"}, {"name", audience}, {"type", "jwt"}}),
                    token),
            true);
        run();
    }
    /// Returns the answer.
    Reply ask(const char* token, const char* audience) {
        say_token(token, audience);
        return read_reply(answers->messages.back());
    }
    void put(const char* token, const char* audience) {
        REQUIRE(ask(token, audience).status == 202);
    }

    LinkLog* answers{nullptr};
    LinkLog* requests{nullptr};
    int tags{0};
};

} // namespace

TEST_CASE("PeerConnection: an expired claim ends the links to its entity and no other link") {
    TokenFront front;
    front.put("10", "sb://host/orders");
    front.put("25", "sb://host/plain");
    LinkLog& orders = front.receive("r", Front::by_session("orders", "a"));
    LinkLog& plain = front.receive("p", "plain");
    REQUIRE(orders.opened);
    REQUIRE(plain.opened);
    front.pass(seconds{9});
    CHECK_FALSE(orders.closed);
    front.pass(seconds{2});
    CHECK(orders.closed);
    CHECK(orders.why.name == "amqp:unauthorized-access");
    CHECK(orders.why.text == "ExpiredToken: The claim for 'orders' has expired.");
    CHECK_FALSE(plain.closed);
    CHECK_FALSE(front.answers->closed);
    CHECK(front.seen.closed == 0);
    front.pass(seconds{15});
    CHECK(plain.closed);
    CHECK_FALSE(front.answers->closed);
}

TEST_CASE("PeerConnection: a token for an entity that is not there is answered with not found") {
    TokenFront front;
    for (const char* audience :
         {"sb://host/nope", "sb://host/nope/$management", "sb://host/orders/Subscriptions/nope"}) {
        const auto reply = front.ask("60", audience);
        CHECK(reply.status == 404);
        const auto sections = amqp::MessageSections::find(front.answers->messages.back());
        REQUIRE(sections);
        CHECK(amqp::decode(amqp::find_entry(sections->application_properties, "error-condition")) ==
              Value::symbol("amqp:not-found"));
    }
    for (const char* audience :
         {"sb://host", "sb://host/", "amqp://host:5672/ORDERS", "sb://host/orders/$management",
          "sb://host/orders/$DeadLetterQueue", "sb://host/orders/$deadletterqueue/$management"}) {
        CAPTURE(audience);
        CHECK(front.ask("60", audience).status == 202);
    }
}

TEST_CASE("PeerConnection: claims are bounded, and at the bound those that are there are renewed") {
    TokenFront front{{.claims = 2}};
    front.put("60", "sb://host/orders");
    front.put("60", "sb://host/plain");
    CHECK(front.ask("60", "sb://host/").status == 403);
    CHECK(front.ask("90", "sb://host/Orders").status == 202);
}

TEST_CASE("PeerConnection: the length of an audience is bounded") {
    TokenFront front;
    const std::string longest =
        "sb://host/" + std::string(server::Limits{}.audience_bytes - 10, 'x');
    CHECK(front.ask("60", longest.c_str()).status == 404);
    CHECK(front.ask("60", (longest + 'x').c_str()).status == 403);
}

TEST_CASE("PeerConnection: a claim with fewer rights replaces one with more") {
    // Signed with SAS_KEY_VALUE for sb://localhost:5672/myqueue, until 1700000000. The name of the
    // key is not signed.
    const std::string token =
        "SharedAccessSignature sr=sb%3A%2F%2Flocalhost%3A5672%2Fmyqueue&"
        "sig=6wme1afeFYxIv9ulmYfF7qW7pRgLizNHgPG0KZ4niKY%3D&se=1700000000&skn=";
    constexpr const char* audience = "sb://localhost:5672/myqueue";
    TokenFront front;
    front.make_queue("myqueue", {.lock_duration = seconds{30}});
    server::AccessKey sending{"SAS_KEY_VALUE"};
    sending.rights = server::Rights::send();
    front.context.access.keys.emplace("sending", sending);
    front.put((token + TokenFront::key_name).c_str(), audience);
    LinkLog& receiving = front.receive("r", "myqueue");
    LinkLog& sender = front.send("s", "myqueue");
    REQUIRE(receiving.opened);
    REQUIRE(sender.opened);
    front.put((token + "sending").c_str(), audience);
    CHECK(receiving.closed);
    CHECK(receiving.why.name == "amqp:unauthorized-access");
    CHECK(receiving.why.text.find("'Listen' claim(s) are required") != std::string::npos);
    CHECK_FALSE(sender.closed);
    front.put((token + TokenFront::key_name).c_str(), audience);
    CHECK(front.receive("again", "myqueue").opened);
}

TEST_CASE("PeerConnection: a refused accept names its wait in hours, minutes and seconds") {
    Front front;
    front.enter();
    const auto wait = seconds{2 * 3600 + 1};
    LinkLog& link = front.receive(
        "r", Front::by_session("orders", {}, static_cast<std::uint32_t>(wait.count() * 1000)));
    for (auto passed = seconds{0}; passed < wait; passed += seconds{12}) {
        CHECK_FALSE(link.closed);
        front.client.heartbeat();
        front.pass(seconds{12});
    }
    CHECK(link.closed);
    CHECK(link.why.text ==
          "The operation did not complete within the allotted timeout of 02:00:01.");
}

TEST_CASE(
    "PeerConnection: a wrong token is answered after a pause, in which nothing else is heard") {
    TokenFront front;
    front.put("1000", "sb://host/plain");
    LinkLog& plain = front.receive("p", "plain");
    plain.receiver->add_credit(10);
    front.run();
    const std::size_t before = front.answers->messages.size();
    front.say_token("-1", "sb://host/plain");
    front.say_token("2000", "sb://host/plain");
    front.Front::put("plain", {Message{.body = "1"}});
    front.pass(std::chrono::milliseconds{999});
    CHECK(front.answers->messages.size() == before);
    CHECK(plain.messages.empty());
    front.pass(std::chrono::milliseconds{1});
    REQUIRE(front.answers->messages.size() == before + 2);
    CHECK(Front::read_reply(front.answers->messages[before]).status == 401);
    CHECK(Front::read_reply(front.answers->messages[before + 1]).status == 202);
    CHECK(plain.messages.size() == 1);
}

TEST_CASE("PeerConnection: a wrong password is refused after a pause") {
    Front front{{}, amqp::SaslCredentials::Mechanism::plain};
    front.context.access.keys = {{Front::key_name, "ANOTHER"}};
    front.run();
    CHECK(front.seen.closed == 0);
    front.pass(std::chrono::milliseconds{999});
    CHECK(front.seen.closed == 0);
    front.pass(std::chrono::milliseconds{1});
    CHECK(front.seen.closed == 1);
}
