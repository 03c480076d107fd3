// SPDX-License-Identifier: MIT
#include "broker/entity.hpp"

#include <doctest/doctest.h>

#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::Outcome;

namespace {

Message with_ttl(std::string_view session, std::string_view body, std::chrono::milliseconds ttl) {
    Message made = Message::of(body).in_session(session);
    made.time_to_live = ttl;
    return made;
}

Message with_id(std::string_view body, std::string id) {
    Message made = Message::of(body).in_session("a");
    made.message_id = std::move(id);
    return made;
}

Errc failure_of(QueueFixture& f, Message message) {
    std::vector<Message> messages;
    messages.push_back(Message::of("good").in_session("a"));
    messages.push_back(std::move(message));
    const auto sent = f.queue->send(std::move(messages), f.at);
    CHECK(f.count(*f.queue) == 0); // all or none
    return sent.ok() ? Errc{} : sent.failure().code;
}

} // namespace

TEST_CASE("send: if the queue cannot accept one message, all messages of the call are rejected") {
    QueueFixture f{{.requires_session = true, .max_message_bytes = 500}};
    CHECK(failure_of(f, Message{.body = "no session"}) == Errc::session_required);
    CHECK(failure_of(f, Message::of("").in_session(std::string(129, 's'))) ==
          Errc::invalid_argument);
    CHECK(failure_of(f, with_id("", std::string(129, 'i'))) == Errc::invalid_argument);
    CHECK(failure_of(f, with_ttl("a", "", 0ms)) == Errc::invalid_argument);
    CHECK(failure_of(f, Message::of(std::string(500, 'x')).in_session("a")) ==
          Errc::message_too_large);
    std::vector<Message> one;
    one.push_back(Message::of("1").in_session("a"));
    CHECK(f.dead_letters->send(std::move(one), f.at).failure().code == Errc::not_supported);
}

TEST_CASE("send: a full queue rejects messages, and accepts them again after one is removed") {
    QueueFixture f{{.requires_session = true, .max_size_bytes = 800}};
    const auto try_send = [&](std::size_t size) {
        std::vector<Message> one;
        one.push_back(Message::of(std::string(size, 'x')).in_session("a"));
        return f.queue->send(std::move(one), f.at).ok();
    };
    CHECK(try_send(200));
    CHECK_FALSE(try_send(100));
    const auto a = f.accept("a");
    CHECK_FALSE(f.settle(*a, f.pull(*a).at(0), Outcome::complete));
    CHECK(f.queue->counts(f.at).bytes == 0);
    CHECK(try_send(100));
}

TEST_CASE("send: dead letters count in a queue's size, and the refusal says so") {
    QueueFixture f{{.requires_session = true, .max_size_bytes = 800}};
    f.send(Message::of(std::string(200, 'x')).in_session("a"));
    const auto a = f.accept("a");
    CHECK_FALSE(f.settle(*a, f.pull(*a).at(0), Outcome::dead_letter));
    std::vector<Message> one;
    one.push_back(Message::of(std::string(100, 'x')).in_session("a"));
    const auto refused = f.queue->send(std::move(one), f.at);
    REQUIRE_FALSE(refused);
    CHECK(refused.failure().code == Errc::quota_exceeded);
    CHECK(refused.failure().detail.ends_with(
        "max_size_bytes is 800, and most of it are dead-lettered messages"));
}

TEST_CASE("duplicates: what is remembered counts in a queue's size until it is forgotten") {
    QueueFixture f{
        {.requires_session = true, .max_size_bytes = 20'000, .duplicate_detection_window = 10s}};
    const auto try_send = [&](int number) {
        std::vector<Message> one;
        one.push_back(with_id("", std::to_string(number)));
        return f.queue->send(std::move(one), f.at);
    };
    int taken = 0;
    core::Result<std::vector<std::int64_t>> last = try_send(taken);
    const auto a = f.accept("a");
    while (last && taken < 1000) {
        for (const broker::Delivered& each : f.pull(*a)) {
            CHECK_FALSE(f.settle(*a, each, Outcome::complete));
        }
        last = try_send(++taken);
    }
    CHECK(taken > 50);
    CHECK(taken < 200);
    REQUIRE_FALSE(last);
    CHECK(last.failure().detail.ends_with(
        "and most of it are message ids that duplicate detection remembers"));
    f.pass(10s);
    CHECK(try_send(taken));
}

TEST_CASE("duplicates: a repeated message id is accepted and dropped within the window") {
    QueueFixture f{{.requires_session = true, .duplicate_detection_window = 10s}};
    const auto first = f.send(with_id("1", "x"));
    CHECK(f.send(with_id("again", "x")) == first);
    f.send(with_id("2", "y"));
    f.send(with_id("3", ""));
    f.send(with_id("4", ""));
    CHECK(f.peek_text(*f.queue) == "1 2 3 4");
    f.pass(10s);
    CHECK(f.send(with_id("5", "x")) != first);
    CHECK(f.peek_text(*f.queue) == "1 2 3 4 5");
}

TEST_CASE("time to live: the queue's default limits the message's own") {
    QueueFixture f{{.requires_session = true, .default_time_to_live = 5s}};
    f.send(with_ttl("a", "short", 2s));
    f.send(with_ttl("a", "long", 60s));
    f.send("a", {"none"});
    const auto seen = f.queue->peek(0, 10, std::nullopt, f.at);
    CHECK(seen[0].facts().expires_at == seen[0].enqueued_time() + 2s);
    CHECK(seen[1].facts().expires_at == seen[1].enqueued_time() + 5s);
    f.pass_and_advance(2s);
    CHECK(f.peek_text(*f.queue) == "long none");
    f.pass_and_advance(3s);
    CHECK(f.count(*f.queue) == 0);
    CHECK(f.queue->counts(f.at).sessions == 0);
    CHECK(f.count(*f.dead_letters) == 0); // not requested
}

TEST_CASE("time to live: expired messages are dead-lettered if the queue asks for it") {
    QueueFixture f{
        {.requires_session = true, .default_time_to_live = 5s, .dead_letter_on_expiration = true}};
    f.send("a", {"1", "2"});
    f.pass_and_advance(5s);
    CHECK(f.peek_text(*f.dead_letters) == "1 2");
    CHECK(f.dead_letters->peek(0, 1, std::nullopt, f.at).at(0).facts().dead_letter->reason ==
          "TTLExpiredException");
    f.pass_and_advance(24h);
    CHECK(f.count(*f.dead_letters) == 2); // dead letters do not expire
}

TEST_CASE(
    "time to live: an unsettled message does not expire, but one that comes back too late does") {
    QueueFixture f;
    f.send(with_ttl("a", "1", 5s));
    const auto a = f.accept("a");
    auto got = f.pull(*a);
    f.pass_and_advance(6s);
    CHECK(f.count(*f.queue) == 1);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::abandon));
    CHECK(f.count(*f.queue) == 0);
    f.send(with_ttl("a", "2", 5s));
    got = f.pull(*a);
    f.pass_and_advance(6s);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::complete));
}

TEST_CASE("time to live: a message that comes back in time still expires") {
    QueueFixture f;
    f.send(with_ttl("a", "1", 5s));
    const auto a = f.accept("a");
    CHECK_FALSE(f.settle(*a, f.pull(*a).at(0), Outcome::release));
    f.pass_and_advance(5s);
    CHECK(f.count(*f.queue) == 0);
}

TEST_CASE("time to live: a session stays in its place in line when its first message expires, and "
          "leaves the line with its last") {
    QueueFixture f;
    f.send(with_ttl("a", "1", 5s));
    f.send(with_ttl("b", "2", 5s));
    f.send("c", {"3"});
    f.send("a", {"4"});
    f.pass_and_advance(5s);
    f.send("b", {"5"});
    CHECK(f.accept(std::nullopt)->consumer->session_id == "a");
    CHECK(f.accept(std::nullopt)->consumer->session_id == "c");
    CHECK(f.accept(std::nullopt)->consumer->session_id == "b");
}

TEST_CASE("time to live: a deferred message expires when it is asked for") {
    QueueFixture f;
    const auto sequence = f.send(with_ttl("a", "1", 5s));
    const auto a = f.accept("a");
    CHECK_FALSE(f.settle(*a, f.pull(*a).at(0), Outcome::defer));
    f.pass_and_advance(6s);
    CHECK(f.count(*f.queue) == 1);
    std::vector<broker::Delivered> got;
    const std::vector<std::int64_t> asked{sequence};
    CHECK(f.queue->receive_deferred(*a->consumer, asked, got, f.at).failure().code ==
          Errc::message_not_found);
    CHECK(f.count(*f.queue) == 0);
}

TEST_CASE("time to live: a value beyond the range of time never expires") {
    QueueFixture f;
    f.send(with_ttl("a", "1", std::chrono::milliseconds::max()));
    f.pass_and_advance(24h * 365);
    CHECK(f.peek_text(*f.queue) == "1");
    CHECK(f.broker.next_wakeup() == std::nullopt);
}

TEST_CASE(
    "schedule: a due message gets a new sequence number at the end and its full time to live") {
    QueueFixture f{{.requires_session = true, .default_time_to_live = 10s}};
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = f.at.wall + 5s;
    const auto scheduled = f.send(later);
    const auto now = f.send(with_ttl("a", "now", 8s));
    CHECK(now > scheduled);
    CHECK(f.peek_text(*f.queue) == "later now");
    f.pass_and_advance(5s);
    const auto seen = f.queue->peek(0, 10, std::nullopt, f.at);
    CHECK(seen[1].text() == "later");
    CHECK(seen[1].sequence_number() > now);
    CHECK(seen[1].enqueued_time() == f.at.wall);
    f.pass_and_advance(9s);
    CHECK(f.peek_text(*f.queue) == "later");
    f.pass_and_advance(1s);
    CHECK(f.queue->counts(f.at).sessions == 0);
}

TEST_CASE("schedule: messages that fall due together keep the order of their due times") {
    QueueFixture f;
    const auto schedule = [&](std::string_view body, std::chrono::seconds after) {
        Message later = Message::of(body).in_session("a");
        later.scheduled_enqueue_time = f.at.wall + after;
        f.send(later);
    };
    schedule("3", 9s);
    schedule("1", 3s);
    schedule("2", 6s);
    f.pass_and_advance(10s);
    const auto a = f.accept("a");
    CHECK(f.pull_text(*a) == "1 2 3");
}

TEST_CASE("schedule: all messages of a request are cancelled or none") {
    QueueFixture f;
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = f.at.wall + 5s;
    const auto scheduled = f.send(later);
    const auto plain = f.send("a", {"now"});
    const std::vector<std::int64_t> both{scheduled, plain[0]};
    CHECK(f.queue->cancel_scheduled(both, f.at).failure().code == Errc::message_not_found);
    const std::vector<std::int64_t> twice{scheduled, scheduled};
    CHECK(f.queue->cancel_scheduled(twice, f.at).ok());
    CHECK(f.peek_text(*f.queue) == "now");
}

TEST_CASE(
    "peek: by session it begins at the sequence number, wherever the session's messages are") {
    QueueFixture f;
    for (int i = 0; i < 300; ++i) {
        f.send(i % 100 == 0 ? "rare" : "often", {std::to_string(i)});
    }
    CHECK(f.peek_text(*f.queue, "rare") == "0 100 200");
    const auto from = [&](std::int64_t sequence) {
        std::string text;
        for (const auto& message : f.queue->peek(sequence, 10, "rare", f.at)) {
            text += std::string{message.text()} + " ";
        }
        return text;
    };
    CHECK(from(1) == "0 100 200 ");
    CHECK(from(2) == "100 200 ");
    CHECK(from(101) == "100 200 ");
    CHECK(from(102) == "200 ");
    CHECK(from(202) == "");
}

TEST_CASE("peek: shows unsettled, deferred and scheduled messages with their facts") {
    QueueFixture f;
    f.send("a", {"hand", "aside"});
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = f.at.wall + 5s;
    f.send(later);
    const auto a = f.accept("a");
    const auto got = f.pull(*a);
    CHECK_FALSE(f.settle(*a, got[1], Outcome::defer));
    CHECK(f.peek_text(*f.queue) == "hand aside later");
    CHECK(f.peek_text(*f.queue, "a") == "hand aside later");
    const auto counts = f.queue->counts(f.at);
    CHECK(counts.active == 1);
    CHECK(counts.deferred == 1);
    CHECK(counts.scheduled == 1);
}

TEST_CASE("peek: in a queue without sessions a session id selects by the messages' own ids") {
    QueueFixture f{{.requires_session = false}};
    f.send("a", {"1"});
    f.send("b", {"2"});
    CHECK(f.peek_text(*f.queue) == "1 2");
    CHECK(f.peek_text(*f.queue, "b") == "2");
}

TEST_CASE("settle: changed properties count against the queue's size") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto before = f.queue->counts(f.at).bytes;
    const auto a = f.accept("a");
    CHECK_FALSE(f.settle(*a, f.pull(*a).at(0), Outcome::abandon,
                         {.properties = {{"name", std::string(10, 'v')}}}));
    CHECK(f.queue->counts(f.at).bytes == before + 14);
}

TEST_CASE(
    "size: states of sessions count, and one that is too much is refused and changes nothing") {
    QueueFixture f{{.requires_session = true, .max_size_bytes = 10'000}};
    const auto a = f.accept("a");
    const auto set = [&](std::optional<std::string> state) {
        const auto done = f.queue->set_state(*a->consumer, std::move(state), f.at);
        return done.ok() ? std::string{"ok"} : done.failure().to_string();
    };
    CHECK(set(std::string(6'000, 's')) == "ok");
    CHECK(set(std::string(9'900, 's')).find("most of it are states of sessions") !=
          std::string::npos);
    CHECK(f.queue->get_state(*a->consumer, f.at).value()->size() == 6'000);
    CHECK(set(std::string(7'000, 's')) == "ok"); // in place of the one before
    std::vector<Message> one;
    one.push_back(Message::of(std::string(3'000, 'x')).in_session("b"));
    CHECK(f.queue->send(one, f.at).failure().code == Errc::quota_exceeded);
    CHECK(set(std::nullopt) == "ok");
    CHECK(f.queue->send(std::move(one), f.at).ok());
}

TEST_CASE("size: a settlement that makes a message larger is refused where there is no room; it "
          "can be settled without") {
    QueueFixture f{{.requires_session = true, .max_size_bytes = 16'000}};
    f.send("a", {std::string(15'000, 'x')});
    const auto a = f.accept("a");
    const auto got = f.pull(*a);
    const broker::Changes much{.properties = {{"p", std::string(2'000, 'y')}}};
    CHECK(f.settle(*a, got[0], Outcome::abandon, much) == Errc::quota_exceeded);
    CHECK(f.settle(*a, got[0], Outcome::defer, much) == Errc::quota_exceeded);
    const broker::Changes reasons{.dead_letter = std::make_shared<DeadLetterInfo>(
                                      DeadLetterInfo{.description = std::string(2'000, 'y')})};
    CHECK(f.settle(*a, got[0], Outcome::dead_letter, reasons) == Errc::quota_exceeded);
    const broker::Changes little{.dead_letter = std::make_shared<DeadLetterInfo>(
                                     DeadLetterInfo{.reason = "it cannot be read"})};
    CHECK_FALSE(f.settle(*a, got[0], Outcome::dead_letter, little));
    CHECK(f.count(*f.dead_letters) == 1);
}

TEST_CASE(
    "size: reasons of a dead letter have a bound, count, and are shared by the messages of one "
    "settlement") {
    QueueFixture f;
    f.send("a", {"1", "2", "3"});
    const auto a = f.accept("a");
    const auto got = f.pull(*a);
    const auto text = [](std::size_t size) {
        return broker::Changes{.dead_letter = std::make_shared<DeadLetterInfo>(
                                   DeadLetterInfo{.description = std::string(size, 'y')})};
    };
    CHECK(f.settle(*a, got[0], Outcome::dead_letter, text(broker::most_reason_bytes + 1)) ==
          Errc::message_too_large);
    const broker::Changes shared = text(broker::most_reason_bytes);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::dead_letter, shared));
    CHECK_FALSE(f.settle(*a, got[1], Outcome::dead_letter, shared));
    const auto dead = f.dead_letters->peek(0, 10, std::nullopt, f.at);
    REQUIRE(dead.size() == 2);
    CHECK(dead[0].facts().dead_letter == shared.dead_letter);
    CHECK(dead[1].facts().dead_letter == shared.dead_letter);
    CHECK(f.dead_letters->counts(f.at).bytes > 2 * broker::most_reason_bytes);
}
