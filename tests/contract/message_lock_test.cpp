// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

constexpr EntitySpec plain_short_lock{.lock_duration = 5s, .requires_session = false};

std::vector<core::Result<ports::LockGrant>> renew(PortCase& t, RecordingLink& link,
                                                  const std::vector<std::size_t>& which) {
    std::vector<std::uint64_t> tags;
    for (const std::size_t at : which) {
        tags.push_back(link.got[at]->port_tag);
    }
    std::optional<std::vector<core::Result<ports::LockGrant>>> answers;
    link.link().message_locks()->renew(std::move(tags), {}, [&](auto got) {
        CHECK_FALSE(answers);
        answers = std::move(got);
    });
    CHECK_FALSE(answers);
    CHECK(t.fixture.eventually([&] { return answers.has_value(); }));
    REQUIRE(answers);
    REQUIRE(answers->size() == which.size());
    return *std::move(answers);
}

void send_texts(auto& t, std::initializer_list<std::string_view> bodies) {
    std::vector<Message> messages;
    for (const std::string_view body : bodies) {
        messages.push_back({.body = std::string{body}});
    }
    t.send(std::move(messages));
}

} // namespace

PORT_CASE("message lock: each delivery has its length, and a session's has none") {
    PortCase t{port, plain_short_lock};
    NEEDS(t, message_lock_renewal);
    send_texts(t, {"1"});
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 1);
    REQUIRE(link->got[0]->lock);
    CHECK(*link->got[0]->lock >= 4900ms - t.fixture.lag());
    CHECK(*link->got[0]->lock <= 5s + t.fixture.lag());
    CHECK(link->link().message_locks() != nullptr);
}

PORT_CASE("message lock: of a session's deliveries there is none") {
    PortCase t{port};
    t.send("a", {"1"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK_FALSE(link->got[0]->lock);
    CHECK(link->link().message_locks() == nullptr);
}

PORT_CASE("message lock: at its end only its message returns, counted, and settling it fails") {
    PortCase t{port, plain_short_lock};
    NEEDS(t, message_lock_renewal);
    send_texts(t, {"1"});
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 1);
    t.fixture.pass(3s);
    send_texts(t, {"2"});
    t.receive(*link, 1);
    t.fixture.pass(2100ms + t.fixture.lag());
    t.receive(*link, 1);
    CHECK(link->text() == "1 2 1");
    CHECK(link->got[2]->message.delivery_count() == 1);
    CHECK_FALSE(link->lost);
    CHECK(t.settle(*link, *link->got[0], Outcome::complete) == Errc::lock_lost);
    CHECK_FALSE(t.settle(*link, *link->got[1], Outcome::complete));
    CHECK_FALSE(t.settle(*link, *link->got[2], Outcome::complete));
}

PORT_CASE("message lock: one request renews several, for their full length from then on") {
    PortCase t{port, plain_short_lock};
    NEEDS(t, message_lock_renewal);
    send_texts(t, {"1", "2", "3"});
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 3);
    t.fixture.pass(4s - t.fixture.lag());
    for (const auto& answer : renew(t, *link, {0, 1, 2})) {
        REQUIRE(answer);
        CHECK(*answer.value().length >= 4900ms - t.fixture.lag());
        CHECK(*answer.value().length <= 5s + t.fixture.lag());
    }
    t.fixture.pass(4s - t.fixture.lag());
    for (const auto& each : link->got) {
        CHECK_FALSE(t.settle(*link, *each, Outcome::complete));
    }
}

PORT_CASE("message lock: one that has ended does not keep others from being renewed") {
    PortCase t{port, plain_short_lock};
    NEEDS(t, message_lock_renewal);
    send_texts(t, {"1"});
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 1);
    t.fixture.pass(3s);
    send_texts(t, {"2"});
    t.receive(*link, 1);
    t.fixture.pass(2100ms + t.fixture.lag());
    const auto answers = renew(t, *link, {0, 1});
    REQUIRE_FALSE(answers[0]);
    CHECK(answers[0].failure().code == Errc::lock_lost);
    CHECK(answers[1]);
}
