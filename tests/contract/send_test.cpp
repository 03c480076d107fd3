// SPDX-License-Identifier: MIT
#include <sessionq/message_batch.hpp>

#include "contract/port_case.hpp"
#include "core/access.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

using Sequences = std::vector<std::int64_t>;

constexpr std::uint64_t most_tried = std::uint64_t{16} << 20U;

ports::SendingLimit limit_of(PortCase& t) {
    return t
        .finish<ports::SendingLimit>(
            [&](auto handler) { t.endpoint->sending_limit(t.target(), {}, std::move(handler)); })
        .result()
        .value();
}

} // namespace

PORT_CASE("send: returns increasing sequence numbers") {
    PortCase t{port};
    const auto first = t.send("a", {"1", "2"});
    const auto second = t.send("b", {"3"});
    REQUIRE(first.size() == 2);
    REQUIRE(second.size() == 1);
    if (!t.fixture.tells_sequence_numbers() || !t.has(ports::Capability::sequence_numbers)) {
        return;
    }
    CHECK(first[0] < first[1]);
    CHECK(first[1] < second[0]);
}

PORT_CASE("send: sends all messages or none, and refuses one without a session") {
    PortCase t{port};
    NEEDS(t, refuse_sessionless);
    if (t.target() != t.entity) {
        return; // a topic may also have subscriptions without sessions
    }
    std::vector<Message> messages;
    messages.push_back(Message::of("1").in_session("a"));
    messages.push_back(Message{.body = "2"});
    const auto sent = t.finish<Sequences>([&](auto handler) {
        t.endpoint->send({t.entity, std::move(messages)}, std::move(handler));
    });
    CHECK(sent.failure() == Errc::session_required);
    NEEDS(t, peek);
    CHECK(t.peek(t.entity).empty());
}

PORT_CASE("send: what exceeds the limit together is refused alike before any of it is sent") {
    PortCase t{port};
    const ports::SendingLimit limit = limit_of(t);
    if (limit.bytes == 0 || limit.bytes > most_tried) {
        return; // the broker names no limit, or a vast one
    }
    std::vector<Message> messages;
    for (int i = 0; i < 3; ++i) {
        messages.push_back(Message::of(std::string(limit.bytes / 5 * 2, 'x')).in_session("a"));
    }
    const auto sent = t.finish<Sequences>([&](auto handler) {
        t.endpoint->send({t.target(), std::move(messages)}, std::move(handler));
    });
    CHECK(sent.failure() == Errc::message_too_large);
    CHECK(sent.unknown() == false);
    t.send("a", {"1"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK(link->text() == "1");
}

PORT_CASE("send: a batch that is as full as it says is taken, with the partition key") {
    PortCase t{port};
    const ports::SendingLimit limit = limit_of(t);
    if (limit.bytes > most_tried) {
        return; // too much for a test
    }
    const std::uint64_t bytes = limit.bytes != 0 ? limit.bytes : std::uint64_t{1} << 20U;
    auto batch = detail::client::Access::make<MessageBatch>(bytes, bytes, limit.beside_message);
    const auto message = [&batch](std::size_t size) {
        Message made = Message::of(std::string(size, 'x')).in_session("a");
        made.message_id = std::to_string(batch.size());
        made.partition_key = "a";
        return made;
    };
    for (std::size_t size : {std::size_t{70'000}, std::size_t{1'000}, std::size_t{1}}) {
        while (batch.add_if_fits(message(size))) {
        }
    }
    CHECK(batch.max_bytes() - batch.bytes() < 200);
    const auto count = static_cast<std::uint32_t>(batch.size());
    t.send(detail::client::Access::take_messages(std::move(batch)));
    const auto link = t.hold("a");
    t.receive(*link, count);
    NEEDS(t, session_state); // other brokers may drop what they do not know
    CHECK(link->got.front()->message.content().partition_key == "a");
}

PORT_CASE("send: the error for an unknown entity names it") {
    PortCase t{port};
    std::vector<Message> messages;
    messages.push_back(Message::of("1").in_session("a"));
    const auto sent = t.finish<Sequences>([&](auto handler) {
        t.endpoint->send({"no-such-entity", std::move(messages)}, std::move(handler));
    });
    CHECK(sent.failure() == Errc::entity_not_found);
    const auto limit = t.finish<ports::SendingLimit>(
        [&](auto handler) { t.endpoint->sending_limit("no-such-entity", {}, std::move(handler)); });
    CHECK(limit.failure() == Errc::entity_not_found);
}

PORT_CASE("topic: can be sent to but not received from; a subscription the reverse") {
    PortCase t{port};
    if (t.target() == t.entity) {
        return; // a queue
    }
    const std::string topic = t.target();
    std::vector<Message> messages;
    messages.push_back(Message::of("1").in_session("a"));
    const auto sent = t.finish<Sequences>([&](auto handler) {
        t.endpoint->send({t.entity, std::move(messages)}, std::move(handler));
    });
    CHECK(sent.failure() == Errc::not_supported);
    t.entity = topic;
    CHECK(t.accept("a").failure() == Errc::not_supported);
    CHECK(t.accept(std::nullopt).failure() == Errc::not_supported);
}

PORT_CASE("schedule: the message is available when it is due, not before") {
    PortCase t{port};
    NEEDS(t, schedule);
    Message later = Message::of("later").in_session("a");
    const WallTime due = t.fixture.loop().wall_now() + 4s;
    later.scheduled_enqueue_time = due;
    t.send({later});
    t.send("a", {"now"});
    const auto link = t.hold("a");
    link->credit(5);
    t.fixture.pass(3s - t.fixture.lag());
    const std::string early = link->text();
    CHECK((early == "now" || t.fixture.loop().wall_now() >= due)); // a busy machine took longer
    t.fixture.pass(1100ms + t.fixture.lag());
    CHECK(t.fixture.eventually([&] { return link->got.size() == 2; }));
    CHECK(link->text() == "now later");
    CHECK(link->got[0]->message.sequence_number() < link->got[1]->message.sequence_number());
}

PORT_CASE("schedule: a session with scheduled messages only is not accepted until one is due") {
    PortCase t{port};
    NEEDS(t, schedule);
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = t.fixture.loop().wall_now() + 4s;
    t.send({later});
    CHECK(t.accept(std::nullopt).failure() == Errc::no_session_available);
    auto waiting = t.begin_accept(std::nullopt, 20s);
    t.fixture.pass(4100ms);
    CHECK(t.fixture.eventually([&] { return waiting.is_there(); }));
    CHECK_FALSE(waiting.failure());
}

PORT_CASE("schedule: a due time in the past means now") {
    PortCase t{port};
    NEEDS(t, schedule);
    Message past = Message::of("1").in_session("a");
    past.scheduled_enqueue_time = t.fixture.loop().wall_now() - 10s;
    t.send({past});
    const auto link = t.hold("a");
    t.receive(*link, 1);
}

PORT_CASE("schedule: a cancelled message never arrives") {
    PortCase t{port};
    NEEDS(t, cancel_scheduled);
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = t.fixture.loop().wall_now() + 4s;
    const auto sequences = t.send({later});
    const auto cancel = [&] {
        return t
            .finish<core::Done>([&](auto handler) {
                t.endpoint->cancel_scheduled(t.target(), sequences, {}, std::move(handler));
            })
            .failure();
    };
    CHECK_FALSE(cancel());
    CHECK(cancel() == Errc::message_not_found);
    t.fixture.pass(5s);
    CHECK(t.accept(std::nullopt).failure() == Errc::no_session_available);
}

PORT_CASE("time to live: an expired message is gone") {
    PortCase t{port, {.dead_letter_on_expiration = true}};
    Message brief = Message::of("brief").in_session("a");
    brief.time_to_live = 2s;
    t.send({brief});
    t.send("a", {"lasting"});
    t.fixture.pass(2100ms);
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK(link->text() == "lasting");
    NEEDS(t, peek);
    NEEDS(t, dead_letter_reason);
    const auto dead = t.peek(t.fixture.dead_letters_of(t.entity));
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].facts().dead_letter->reason == "TTLExpiredException");
}

PORT_CASE("peek: returns messages in order from a sequence number, of all sessions or of one") {
    PortCase t{port};
    NEEDS(t, peek);
    t.send("a", {"1"});
    t.send("b", {"2"});
    t.send("a", {"3"});
    const auto all = t.peek(t.entity);
    REQUIRE(all.size() == 3);
    const std::int64_t b = all[1].sequence_number();
    CHECK(t.text_of(t.peek(t.entity)) == "1 2 3");
    CHECK(t.text_of(t.peek(t.entity, std::nullopt, b)) == "2 3");
    CHECK(t.text_of(t.peek(t.entity, std::nullopt, 0, 2)) == "1 2");
    CHECK(t.text_of(t.peek(t.entity, "a")) == "1 3");
    CHECK(t.text_of(t.peek(t.entity, "a", b)) == "3");
    CHECK(t.peek(t.entity, "nobody").empty());
}

PORT_CASE("peek: changes nothing (DG8)") {
    PortCase t{port};
    NEEDS(t, peek);
    t.send("a", {"1", "2"});
    CHECK(t.peek(t.entity).size() == 2);
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK(link->got[0]->message.delivery_count() == 0);
    CHECK_FALSE(link->got[0]->message.facts().redelivered);
    CHECK(t.text_of(t.peek(t.entity, "a")) == "1 2");
    t.fixture.quiet();
    CHECK(link->got.size() == 1);
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::complete));
    CHECK(t.text_of(t.peek(t.entity, "a")) == "2");
}

PORT_CASE("peek: does not end a wait for a session") {
    PortCase t{port};
    NEEDS(t, peek);
    NEEDS(t, accept_next);
    const auto waiting = t.begin_accept(std::nullopt, 10s);
    t.fixture.quiet();
    CHECK(t.peek(t.entity).empty());
    t.fixture.quiet();
    CHECK_FALSE(waiting.is_there());
}

PORT_CASE("list sessions: returns sessions with messages or state, by page") {
    PortCase t{port};
    NEEDS(t, list_sessions);
    using Ids = std::vector<std::string>;
    const auto list = [&](std::uint32_t skip, std::uint32_t top) {
        return t
            .finish<Ids>([&](auto handler) {
                t.endpoint->list_sessions({t.entity, skip, top}, std::move(handler));
            })
            .result()
            .value();
    };
    CHECK(list(0, 100).empty());
    t.send("a", {"1"});
    t.send("b", {"2"});
    t.send("a", {"3"});
    const auto merely_held = t.hold("c");
    const auto stateful = t.hold("d");
    CHECK_FALSE(t.finish<core::Done>([&](auto handler) {
                     stateful->link().set_state("s", {}, std::move(handler));
                 }).failure());
    auto all = list(0, 100);
    std::ranges::sort(all);
    CHECK(all == Ids{"a", "b", "d"});
    Ids paged = list(0, 2);
    CHECK(paged.size() == 2);
    for (const auto& id : list(2, 2)) {
        paged.push_back(id);
    }
    std::ranges::sort(paged);
    CHECK(paged == all);
}

PORT_CASE("list sessions: those whose state was set after an instant, in the order of setting") {
    PortCase t{port};
    NEEDS(t, list_sessions);
    using Ids = std::vector<std::string>;
    const auto set = [&](const std::string& id, std::optional<std::string> state) {
        const auto link = t.hold(id);
        CHECK_FALSE(t.finish<core::Done>([&](auto handler) {
                         link->link().set_state(std::move(state), {}, std::move(handler));
                     }).failure());
        t.close(*link);
    };
    const auto list = [&](WallTime after, std::uint32_t skip = 0, std::uint32_t top = 100) {
        return t
            .finish<Ids>([&](auto handler) {
                t.endpoint->list_sessions(
                    {.entity = t.entity, .skip = skip, .top = top, .state_set_after = after},
                    std::move(handler));
            })
            .result()
            .value();
    };
    const WallTime start = t.endpoint->loop().wall_now() - 1h;
    CHECK(list(start).empty());
    t.send("without state", {"1"});
    set("a", "1");
    set("b", "1");
    set("c", "1");
    set("a", "2");
    CHECK(list(start) == Ids{"b", "c", "a"});
    CHECK(list(start, 1, 1) == Ids{"c"});
    set("c", std::nullopt);
    CHECK(list(start) == Ids{"b", "a"});
    CHECK(list(start + 2h).empty());
}

PORT_CASE("endpoint: destroying it cancels unanswered calls") {
    PortCase t{port};
    auto other = t.fixture.make_endpoint();
    std::vector<Message> messages;
    messages.push_back(Message::of("1").in_session("a"));
    const auto sent = t.begin<Sequences>([&](auto handler) {
        other->send({t.target(), std::move(messages)}, std::move(handler));
    });
    CHECK_FALSE(sent.is_there());
    other.reset();
    CHECK(sent.failure() == Errc::cancelled);
    t.fixture.quiet();
}

PORT_CASE("endpoint: refuses an unsupported capability and names it") {
    PortCase t{port};
    for (int i = 0; i <= static_cast<int>(ports::last_capability); ++i) {
        const auto capability = static_cast<ports::Capability>(i);
        CAPTURE(to_string(capability));
        if (t.endpoint->capabilities().has(capability)) {
            CHECK_NOTHROW(t.endpoint->capabilities().require(capability));
        } else {
            CHECK_THROWS_AS(t.endpoint->capabilities().require(capability), Error);
        }
    }
}
