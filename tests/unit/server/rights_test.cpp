// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "front.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using server::Rights;

namespace {

struct Given {
    const char* name;
    Rights rights;
};

constexpr Given all_rights[] = {
    {"listen", Rights::listen()}, {"send", Rights::send()}, {"manage", Rights::all()}};

/// A client that logged in with a key of these rights, to this entity.
struct Limited : Front {
    explicit Limited(Rights rights, const std::string& entity = {}) {
        context.access.keys.at(key_name).rights = rights;
        context.access.keys.at(key_name).entity = entity;
        enter();
    }

    std::int64_t ask(const char* operation) {
        if (answers == nullptr) {
            answers = &receive("answers", "orders/$management");
            answers->receiver->add_credit(1000);
            requests = &send("requests", "orders/$management");
            REQUIRE(requests->opened);
        }
        requests->sender->send(
            "1",
            request("id", "answers",
                    Value::map({{"operation", std::string{"com.microsoft:"} + operation}}),
                    Value::map({})),
            true);
        run();
        REQUIRE_FALSE(answers->messages.empty());
        return read_reply(answers->messages.back()).status;
    }

    LinkLog* answers{nullptr};
    LinkLog* requests{nullptr};
};

bool is_refused(const LinkLog& link) {
    return link.closed && link.why.name == "amqp:unauthorized-access";
}

} // namespace

TEST_CASE("rights: each link needs its own") {
    for (const Given& given : all_rights) {
        CAPTURE(given.name);
        Limited front{given.rights};
        LinkLog& sender = front.send("s", "plain");
        LinkLog& receiver = front.receive("r", "plain");
        LinkLog& session = front.receive("a", Front::by_session("orders", "x"));
        CHECK(is_refused(sender) == (given.rights == Rights::listen()));
        CHECK(is_refused(receiver) == (given.rights == Rights::send()));
        CHECK(is_refused(session) == (given.rights == Rights::send()));
    }
}

TEST_CASE("rights: each request needs its own, and is answered with 401 without it") {
    struct Row {
        const char* operation;
        Rights needed;
    };
    const Row rows[] = {
        {"renew-lock", Rights::listen()},
        {"peek-message", Rights::listen()},
        {"schedule-message", Rights::send()},
        {"cancel-scheduled-message", Rights::send()},
        {"renew-session-lock", Rights::listen()},
        {"set-session-state", Rights::listen()},
        {"get-session-state", Rights::listen()},
        {"get-message-sessions", Rights::listen()},
        {"receive-by-sequence-number", Rights::listen()},
        {"update-disposition", Rights::listen()},
        {"batch-delete-messages", Rights::listen()},
        {"enumerate-rules", Rights::listen()},
        {"add-rule", Rights::listen()},
        {"remove-rule", Rights::listen()},
    };
    for (const Given& given : all_rights) {
        Limited front{given.rights};
        for (const Row& row : rows) {
            CAPTURE(given.name);
            CAPTURE(row.operation);
            CHECK((front.ask(row.operation) == 401) == !given.rights.has_any_of(row.needed));
        }
        CHECK(front.ask("no-such-operation") == 501);
    }
}

TEST_CASE("rights: a key for an entity opens it and what is below it, and nothing else") {
    Limited front{Rights::all(), "plain"};
    CHECK(front.send("s", "plain").opened);
    CHECK(front.receive("d", "plain/$DeadLetterQueue").opened);
    CHECK(front.receive("m", "plain/$management").opened);
    LinkLog& other = front.receive("o", Front::by_session("orders", "a"));
    CHECK(is_refused(other));
    CHECK(other.why.text ==
          "Unauthorized access. No valid claim for 'orders' has been put on this connection.");
}

TEST_CASE("rights: the refusal names the right and the entity, as Service Bus does") {
    Limited front{Rights::listen()};
    CHECK(front.send("s", "plain").why.text ==
          "Unauthorized access. 'Send' claim(s) are required to perform this operation. Resource: "
          "'plain'.");
}

TEST_CASE("rights: a wrong password opens nothing") {
    Front front;
    front.context.access.keys.at(Front::key_name).value = "another";
    front.enter();
    CHECK(front.seen.closed == 0);
    front.pass(front.context.limits.pause_after_guess); // guesses are slow
    CHECK(front.seen.closed == 1);
}
