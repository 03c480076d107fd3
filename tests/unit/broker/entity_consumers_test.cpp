// SPDX-License-Identifier: MIT
#include "broker/entity.hpp"

#include <doctest/doctest.h>

#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::Outcome;

TEST_CASE("session queue: messages of a session come in order, and completing removes them") {
    QueueFixture f;
    f.send("a", {"1", "2"});
    f.send("b", {"x"});
    f.send("a", {"3"});
    const auto a = f.accept("a");
    REQUIRE(a->consumer);
    const auto got = f.pull(*a);
    CHECK(f.text_of(got) == "1 2 3");
    CHECK(got[0].message.sequence_number() == 1);
    CHECK(got[2].message.sequence_number() == 4);
    CHECK(got[0].message.delivery_count() == 0);
    CHECK_FALSE(got[0].message.facts().redelivered);
    for (const auto& delivered : got) {
        CHECK_FALSE(f.settle(*a, delivered, Outcome::complete));
    }
    CHECK(f.peek_text(*f.queue) == "x");
    f.close(*a);
    CHECK(f.queue->counts(f.at).sessions == 1);
}

TEST_CASE("session queue: a locked session is refused to others until it is closed") {
    QueueFixture f;
    const auto first = f.accept("a");
    REQUIRE(first->consumer);
    CHECK(f.accept("a")->refused == Errc::session_locked_elsewhere);
    f.close(*first);
    CHECK(f.accept("a")->consumer);
}

TEST_CASE("session queue: closing returns unsettled messages to their positions, uncounted") {
    QueueFixture f;
    f.send("a", {"1", "2", "3", "4"});
    const auto first = f.accept("a");
    const auto got = f.pull(*first, 3);
    f.settle(*first, got[1], Outcome::complete);
    f.close(*first);
    const auto second = f.accept(std::nullopt);
    REQUIRE(second->consumer);
    const auto again = f.pull(*second);
    CHECK(f.text_of(again) == "1 3 4");
    CHECK(again[0].message.delivery_count() == 0);
    CHECK(again[0].message.facts().redelivered);
    CHECK_FALSE(again[2].message.facts().redelivered);
}

TEST_CASE("session queue: what a holder had that vanished says so, uncounted, whoever comes") {
    QueueFixture f;
    f.send("a", {"1", "2"});
    const auto first = f.accept("a");
    CHECK_FALSE(f.pull(*first, 1)[0].holder_lost);
    f.queue->vanish(*first->consumer, f.at);
    f.queue->vanish(*first->consumer, f.at); // no effect
    const auto second = f.accept("a");
    const auto got = f.pull(*second);
    CHECK(got[0].holder_lost);
    CHECK_FALSE(got[1].holder_lost); // it was not delivered
    CHECK(got[0].message.delivery_count() == 0);
    f.close(*second);
    const auto third = f.accept("a");
    const auto again = f.pull(*third);
    CHECK(again[0].holder_lost);
    CHECK_FALSE(again[1].holder_lost); // it was given back
    f.pass_and_advance(f.lock_duration + 1s);
    const auto fourth = f.accept("a");
    for (const auto& delivered : f.pull(*fourth)) {
        CHECK(delivered.holder_lost); // an expired lock
    }
}

TEST_CASE("session queue: a consumer that got fewer than it asked for is notified of more, once") {
    QueueFixture f;
    const auto a = f.accept("a");
    CHECK(f.pull_text(*a).empty());
    f.send("a", {"1"});
    f.send("a", {"2"});
    CHECK(a->notified == 1);
    CHECK(f.pull_text(*a) == "1 2");
    f.send("a", {"3"});
    CHECK(a->notified == 2);
}

TEST_CASE("session queue: a consumer that got all it asked for is not notified of more") {
    QueueFixture f;
    f.send("a", {"1", "2"});
    const auto a = f.accept("a");
    CHECK(f.pull_text(*a, 1) == "1");
    f.send("a", {"3"});
    CHECK(a->notified == 0);
    CHECK(f.pull_text(*a, 2) == "2 3");
    CHECK(f.pull_text(*a, 1).empty());
    f.queue->withdraw(*a->consumer, f.at);
    f.send("a", {"4"});
    CHECK(a->notified == 0);
}

TEST_CASE("session queue: a returned message notifies like a new one") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto a = f.accept("a");
    const auto got = f.pull(*a);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::abandon));
    CHECK(a->notified == 1);
    CHECK(f.pull_text(*a) == "1");
}

TEST_CASE("session queue: a message is settled once, and a token is valid for one delivery") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto a = f.accept("a");
    const auto first = f.pull(*a);
    CHECK_FALSE(f.settle(*a, first[0], Outcome::release));
    CHECK(f.settle(*a, first[0], Outcome::complete) == Errc::already_settled);
    const auto second = f.pull(*a);
    CHECK(f.settle(*a, first[0], Outcome::complete) == Errc::already_settled);
    CHECK_FALSE(f.settle(*a, second[0], Outcome::complete));
    CHECK(f.count(*f.queue) == 0);
}

TEST_CASE("session queue: messages that return out of order are delivered in order (DG7)") {
    QueueFixture f;
    f.send("a", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    const auto a = f.accept("a");
    const auto got = f.pull(*a, 8);
    for (const std::size_t i : {4U, 1U, 7U, 0U, 5U, 2U, 6U, 3U}) {
        CHECK_FALSE(f.settle(*a, got[i], Outcome::release));
    }
    CHECK(f.pull_text(*a) == "0 1 2 3 4 5 6 7 8 9");
}

TEST_CASE("session lock: it expires after its length, notifies the consumer and counts unsettled "
          "messages") {
    QueueFixture f;
    f.send("a", {"1", "2"});
    const auto a = f.accept("a");
    const auto got = f.pull(*a, 1);
    f.pass_and_advance(f.lock_duration - 1ms);
    CHECK_FALSE(a->lost);
    f.pass_and_advance(1ms);
    CHECK(a->lost == Errc::lock_lost);
    CHECK(f.settle(*a, got[0], Outcome::complete) == Errc::lock_lost);
    CHECK(f.pull(*a).empty());
    const auto b = f.accept("a");
    const auto again = f.pull(*b);
    CHECK(f.text_of(again) == "1 2");
    CHECK(again[0].message.delivery_count() == 1);
    CHECK(again[1].message.delivery_count() == 0);
    f.close(*a); // ended already: no effect on the new holder
    CHECK_FALSE(f.settle(*b, again[0], Outcome::complete));
}

TEST_CASE("session lock: every call after the expiry finds it expired, even if the timer is late") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto a = f.accept("a");
    const auto got = f.pull(*a);
    f.pass(f.lock_duration);
    CHECK(f.settle(*a, got[0], Outcome::complete) == Errc::lock_lost);
    CHECK(a->lost == Errc::lock_lost);
    CHECK(f.accept("a")->consumer);
}

TEST_CASE("session lock: a renewal lasts the full length from now, not longer") {
    QueueFixture f;
    const auto a = f.accept("a");
    f.pass(20s);
    CHECK(f.queue->renew(*a->consumer, f.at).value() == f.at.now + f.lock_duration);
    f.pass_and_advance(f.lock_duration - 1ms);
    CHECK_FALSE(a->lost);
    f.pass_and_advance(1ms);
    CHECK(a->lost);
    CHECK(f.queue->renew(*a->consumer, f.at).failure().code == Errc::lock_lost);
}

TEST_CASE("session lock: losing it after the last permitted delivery dead-letters unsettled "
          "messages in order") {
    QueueFixture f;
    f.send("a", {"1", "2", "3"});
    for (int i = 0; i < 3; ++i) {
        const auto a = f.accept("a");
        CHECK(f.pull(*a, 2).size() == 2);
        f.pass_and_advance(f.lock_duration);
    }
    CHECK(f.peek_text(*f.dead_letters) == "1 2");
    CHECK(f.peek_text(*f.queue) == "3");
}

TEST_CASE("accept: a wait ends once, with a session or with none available") {
    QueueFixture f;
    const auto a = f.accept(std::nullopt, 10s);
    const auto b = f.accept(std::nullopt, 20s);
    CHECK(f.queue->counts(f.at).waiting_accepts == 2);
    f.pass_and_advance(10s);
    CHECK(a->refused == Errc::no_session_available);
    CHECK_FALSE(b->refused);
    f.send("s", {"1"});
    CHECK(b->consumer);
    f.pass_and_advance(10s);
    CHECK_FALSE(a->consumer);
    CHECK_FALSE(b->refused);
}

TEST_CASE(
    "accept: waiting accepts are served by priority and then in order of arrival (DG5, DG6)") {
    QueueFixture f;
    const auto low = f.accept(std::nullopt, 10s, 0);
    const auto first = f.accept(std::nullopt, 10s, 1);
    const auto second = f.accept(std::nullopt, 10s, 1);
    f.send("a", {"1"});
    CHECK(first->consumer);
    CHECK_FALSE(low->consumer);
    CHECK_FALSE(second->consumer);
    f.send("b", {"2"});
    CHECK(second->consumer);
    f.send("c", {"3"});
    CHECK(low->consumer);
}

TEST_CASE("accept: one send can serve many waiting accepts") {
    QueueFixture f;
    const auto a = f.accept(std::nullopt, 10s);
    const auto b = f.accept(std::nullopt, 10s);
    CHECK(f.queue
              ->send({Message::of("1").in_session("x"), Message::of("2").in_session("y"),
                      Message::of("3").in_session("z")},
                     f.at)
              .ok());
    CHECK(a->consumer->session_id == "x");
    CHECK(b->consumer->session_id == "y");
    CHECK(f.accept(std::nullopt)->consumer->session_id == "z");
}

TEST_CASE("accept: a lost session goes to a waiting accept before a later one") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto holder = f.accept(std::nullopt);
    const auto waiting = f.accept(std::nullopt, 60s);
    f.pass(f.lock_duration);
    CHECK(f.accept(std::nullopt)->refused == Errc::no_session_available);
    CHECK(holder->lost);
    CHECK(waiting->consumer);
}

TEST_CASE("accept: a cancelled wait is not answered; an answered one cannot be cancelled") {
    QueueFixture f;
    const auto a = f.accept(std::nullopt, 10s);
    const auto wait = f.last_wait;
    CHECK(f.queue->cancel_accept(wait, f.at));
    CHECK_FALSE(f.queue->cancel_accept(wait, f.at));
    f.send("s", {"1"});
    CHECK_FALSE(a->consumer);
    const auto b = f.accept(std::nullopt, 10s);
    CHECK(b->consumer);
    CHECK_FALSE(f.queue->cancel_accept(f.last_wait, f.at));
}

TEST_CASE("accept: without a name it gets the session that has been ready longest") {
    QueueFixture f;
    f.send("a", {"1"});
    f.send("b", {"2"});
    f.send("a", {"3"});
    const auto a = f.accept(std::nullopt);
    CHECK(a->consumer->session_id == "a");
    f.send("c", {"4"});
    f.close(*a); // ready again, behind the others
    CHECK(f.accept(std::nullopt)->consumer->session_id == "b");
    CHECK(f.accept(std::nullopt)->consumer->session_id == "c");
    CHECK(f.accept(std::nullopt)->consumer->session_id == "a");
}

TEST_CASE("accept: failing sessions that are given back go behind all that wait") {
    QueueFixture f{{.requires_session = true, .max_delivery_count = 100}};
    for (int i = 0; i < 8; ++i) {
        f.send("failing" + std::to_string(i), {"poison"});
    }
    for (int i = 0; i < 20; ++i) {
        f.send("waiting" + std::to_string(i), {"1"});
    }
    std::vector<std::string> served;
    const auto fail_next = [&] {
        const auto next = f.accept(std::nullopt);
        served.push_back(next->consumer->session_id);
        for (const auto& delivered : f.pull(*next)) {
            CHECK_FALSE(f.settle(*next, delivered, Outcome::abandon));
        }
        f.close(*next);
    };
    for (int i = 0; i < 8 + 20 + 8; ++i) {
        fail_next();
    }
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(served[i] == "failing" + std::to_string(i));
        CHECK(served[i + 28] == "failing" + std::to_string(i));
    }
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(served[i + 8] == "waiting" + std::to_string(i));
    }
}

TEST_CASE("accept: a session that a client holds and leaves empty-handed is ready from then on") {
    QueueFixture f;
    const auto a = f.accept("a");
    f.send("a", {"1"}); // not ready: it is held
    f.send("b", {"2"});
    f.close(*a);
    CHECK(f.accept(std::nullopt)->consumer->session_id == "b");
    CHECK(f.accept(std::nullopt)->consumer->session_id == "a");
}

TEST_CASE("sessions: an empty session costs nothing, but state keeps it alive") {
    QueueFixture f;
    const auto a = f.accept("a");
    const auto b = f.accept("b");
    CHECK(f.queue->set_state(*b->consumer, "kept", f.at).ok());
    CHECK(f.queue->counts(f.at).sessions == 2);
    f.close(*a);
    f.close(*b);
    CHECK(f.queue->counts(f.at).sessions == 1);
    const auto again = f.accept("b");
    CHECK(f.queue->get_state(*again->consumer, f.at).value() == "kept");
    CHECK(f.queue->set_state(*again->consumer, std::nullopt, f.at).ok());
    f.close(*again);
    CHECK(f.queue->counts(f.at).sessions == 0);
}

TEST_CASE("sessions: state has a size limit, and only the holder may set it") {
    QueueFixture f{{.requires_session = true, .max_message_bytes = 100}};
    const auto a = f.accept("a");
    CHECK(f.queue->set_state(*a->consumer, std::string(101, 'x'), f.at).failure().code ==
          Errc::message_too_large);
    CHECK(f.queue->get_state(*a->consumer, f.at).value() == std::nullopt);
    f.close(*a);
    CHECK(f.queue->get_state(*a->consumer, f.at).failure().code == Errc::lock_lost);
    CHECK(f.queue->set_state(*a->consumer, "s", f.at).failure().code == Errc::lock_lost);
}

TEST_CASE("deferred: several that exceed the bound are refused and stay deferred, one never is") {
    QueueFixture f;
    auto sequences = f.send("a", {"1", "2"});
    const auto a = f.accept("a");
    for (const broker::Delivered& each : f.pull(*a)) {
        CHECK_FALSE(f.settle(*a, each, Outcome::defer));
    }
    std::vector<broker::Delivered> got;
    const auto refused = f.queue->receive_deferred(*a->consumer, sequences, got, f.at, 1);
    CHECK(refused.failure().code == Errc::message_too_large);
    CHECK(refused.failure().detail.ends_with("and an answer holds 1; ask for fewer at once"));
    CHECK(got.empty());
    const std::uint64_t bytes =
        f.queue->peek(0, 1, std::nullopt, f.at)[0].shared_content()->bytes();
    CHECK(f.queue->receive_deferred(*a->consumer, sequences, got, f.at, 2 * bytes).ok());
    CHECK(got.size() == 2);
    got.clear();
    sequences = f.send("a", {"3"});
    CHECK_FALSE(f.settle(*a, f.pull(*a).at(0), Outcome::defer));
    CHECK(f.queue->receive_deferred(*a->consumer, sequences, got, f.at, 1).ok());
}

TEST_CASE("pull: it ends behind the message with which the bytes are reached, and is not the end") {
    QueueFixture f;
    f.send("a", {"1", "2", "3"});
    const auto a = f.accept("a");
    const std::uint64_t bytes =
        f.queue->peek(0, 1, std::nullopt, f.at)[0].shared_content()->bytes();
    std::vector<broker::Delivered> got;
    CHECK(f.queue->pull(*a->consumer, 10, got, f.at, bytes + 1));
    CHECK(QueueFixture::text_of(got) == "1 2");
    CHECK(a->notified == 0);
    f.send("a", {"4"});
    CHECK(a->notified == 0); // it has to ask for "3"
    CHECK(f.queue->pull(*a->consumer, 10, got, f.at, 100 * bytes));
    CHECK(QueueFixture::text_of(got) == "1 2 3 4");
    f.send("a", {"5"});
    CHECK(a->notified == 1);
}

TEST_CASE("deferred: the holder gets a message by sequence number, and if abandoned it stays "
          "deferred and is counted") {
    QueueFixture f;
    const auto sequences = f.send("a", {"1", "2"});
    const auto a = f.accept("a");
    auto got = f.pull(*a, 1);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::defer));
    CHECK(f.pull_text(*a) == "2");
    const auto b = f.accept("b");
    got.clear();
    CHECK(f.queue->receive_deferred(*b->consumer, sequences, got, f.at).failure().code ==
          Errc::message_not_found);
    const std::vector<std::int64_t> one{sequences[0]};
    CHECK(f.queue->receive_deferred(*a->consumer, one, got, f.at).ok());
    REQUIRE(got.size() == 1);
    CHECK(f.queue->receive_deferred(*a->consumer, one, got, f.at).failure().code ==
          Errc::message_not_found);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::abandon));
    CHECK(f.pull(*a).empty());
    got.clear();
    CHECK(f.queue->receive_deferred(*a->consumer, one, got, f.at).ok());
    CHECK(got[0].message.delivery_count() == 1);
    f.close(*a);
    CHECK(f.peek_text(*f.queue) == "1 2");
    CHECK(f.accept(std::nullopt)->consumer->session_id == "a"); // for "2"
}

TEST_CASE(
    "deferred: a sequence number listed twice in a request finds nothing and delivers nothing") {
    QueueFixture f;
    const auto sequences = f.send("a", {"1"});
    const auto a = f.accept("a");
    auto got = f.pull(*a);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::defer));
    got.clear();
    const std::vector<std::int64_t> twice{sequences[0], sequences[0]};
    CHECK(f.queue->receive_deferred(*a->consumer, twice, got, f.at).failure().code ==
          Errc::message_not_found);
    CHECK(got.empty());
    CHECK(f.queue->receive_deferred(*a->consumer, sequences, got, f.at).ok());
}

TEST_CASE(
    "plain queue: it has no sessions to accept, and a session queue allows no plain receiver") {
    QueueFixture f{{.requires_session = false}};
    CHECK(f.accept("a")->refused == Errc::session_required);
    CHECK(f.accept(std::nullopt, 10s)->refused == Errc::session_required);
    QueueFixture g;
    CHECK(
        g.queue->open(broker::ReceiveMode::peek_lock, 0, std::make_shared<RecordingTarget>(), g.at)
            .failure()
            .code == Errc::session_required);
}

namespace {

struct PlainFixture : QueueFixture {
    PlainFixture()
        : QueueFixture{{.requires_session = false,
                        .lock_duration = lock_duration,
                        .max_delivery_count = 2}} {}
    std::shared_ptr<RecordingTarget> open(
        int priority = 0, broker::ReceiveMode mode = broker::ReceiveMode::peek_lock) {
        auto target = std::make_shared<RecordingTarget>();
        target->consumer = queue->open(mode, priority, target, at).value();
        return target;
    }
};

} // namespace

TEST_CASE("plain queue: consumers share the messages, each locked on its own") {
    PlainFixture f;
    f.send("", {"1", "2", "3"});
    const auto a = f.open();
    const auto b = f.open();
    const auto of_a = f.pull(*a, 2);
    CHECK(f.text_of(of_a) == "1 2");
    CHECK(f.pull_text(*b) == "3");
    f.pass(20s);
    CHECK(f.queue->renew_message(*a->consumer, of_a[1].token, f.at).value() ==
          f.at.now + f.lock_duration);
    f.pass_and_advance(10s);
    CHECK(b->notified == 1);
    CHECK(f.settle(*a, of_a[0], Outcome::complete) == Errc::lock_lost);
    CHECK_FALSE(f.settle(*a, of_a[1], Outcome::complete));
    const auto again = f.pull(*b);
    CHECK(f.text_of(again) == "1 3");
    CHECK(again[0].message.delivery_count() == 1);
    CHECK(f.queue->renew_message(*a->consumer, of_a[0].token, f.at).failure().code ==
          Errc::lock_lost);
}

TEST_CASE("plain queue: one interested consumer is notified of a batch, and work that it leaves "
          "notifies the next (DG3)") {
    PlainFixture f;
    const auto a = f.open();
    const auto b = f.open();
    CHECK(f.pull(*a).empty());
    CHECK(f.pull(*b).empty());
    CHECK(f.queue
              ->send({Message::of("1").in_session(""), Message::of("2").in_session(""),
                      Message::of("3").in_session("")},
                     f.at)
              .ok());
    CHECK(a->notified == 1);
    CHECK(b->notified == 0);
    CHECK(f.pull_text(*a, 1) == "1");
    CHECK(b->notified == 1);
    f.queue->withdraw(*b->consumer, f.at);
    CHECK(f.pull_text(*a, 5) == "2 3");
}

TEST_CASE("plain queue: a notified consumer that never pulls delays no message sent later, and "
          "wakes nobody for nothing") {
    PlainFixture f;
    const auto stuck = f.open(1);
    const auto other = f.open();
    CHECK(f.pull(*stuck).empty());
    CHECK(f.pull(*other).empty());
    f.send("", {"1"});
    CHECK(stuck->notified == 1);
    CHECK(other->notified == 0);
    f.send("", {"2"});
    CHECK(other->notified == 1);
    CHECK(f.pull_text(*other) == "1 2");
    for (int i = 0; i < 10; ++i) {
        f.send("", {std::to_string(i)});
        CHECK(other->notified == i + 2);
        CHECK(f.pull_text(*other) == std::to_string(i));
    }
    CHECK(stuck->notified == 1);
    CHECK(f.pull(*stuck).empty());
    f.send("", {"3"});
    CHECK(stuck->notified == 2);
}

TEST_CASE("plain queue: a notified consumer that closes passes the notification on") {
    PlainFixture f;
    const auto a = f.open();
    const auto b = f.open(1);
    CHECK(f.pull(*a).empty());
    CHECK(f.pull(*b).empty());
    f.send("", {"1"});
    CHECK(b->notified == 1);
    CHECK(a->notified == 0);
    f.close(*b);
    CHECK(a->notified == 1);
}

TEST_CASE("plain queue: receive and delete leaves nothing unsettled") {
    PlainFixture f;
    f.send("", {"1", "2"});
    const auto a = f.open(0, broker::ReceiveMode::receive_and_delete);
    CHECK(f.pull_text(*a, 1) == "1");
    f.close(*a);
    CHECK(f.peek_text(*f.queue) == "2");
}

TEST_CASE("dead letters: a plain consumer reads and completes them, and their deliveries are not "
          "counted") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto a = f.accept("a");
    auto got = f.pull(*a);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::dead_letter,
                         {.dead_letter = std::make_shared<DeadLetterInfo>(
                              DeadLetterInfo{.reason = "r", .description = "d"})}));
    auto reader = std::make_shared<RecordingTarget>();
    reader->consumer =
        f.dead_letters->open(broker::ReceiveMode::peek_lock, 0, reader, f.at).value();
    const auto pull = [&] {
        std::vector<broker::Delivered> dead;
        CHECK(f.dead_letters->pull(*reader->consumer, 10, dead, f.at));
        return dead;
    };
    const auto settle = [&](const broker::Delivered& delivered, Outcome outcome) {
        broker::SettleOrder order{.token = delivered.token, .outcome = outcome};
        f.dead_letters->settle(*reader->consumer, {&order, 1}, f.at);
        return order.failed_with;
    };
    for (int i = 0; i < 5; ++i) { // more often than a queue allows
        const auto dead = pull();
        REQUIRE(dead.size() == 1);
        CHECK(dead[0].message.facts().dead_letter->reason == "r");
        CHECK(dead[0].message.session_id() == "a");
        CHECK(settle(dead[0], Outcome::dead_letter) == Errc::not_supported);
        CHECK_FALSE(settle(dead[0], Outcome::abandon));
    }
    CHECK_FALSE(settle(pull().at(0), Outcome::complete));
    CHECK(f.count(*f.dead_letters) == 0);
}

TEST_CASE("dead letters: a waiting reader is notified when one arrives") {
    QueueFixture f;
    auto reader = std::make_shared<RecordingTarget>();
    reader->consumer =
        f.dead_letters->open(broker::ReceiveMode::peek_lock, 0, reader, f.at).value();
    std::vector<broker::Delivered> none;
    CHECK(f.dead_letters->pull(*reader->consumer, 10, none, f.at));
    f.send("a", {"1"});
    const auto a = f.accept("a");
    CHECK_FALSE(f.settle(*a, f.pull(*a).at(0), Outcome::dead_letter));
    CHECK(reader->notified == 1);
}

TEST_CASE(
    "queue without sessions: a retired consumer's messages stay locked until they are settled "
    "or their locks end") {
    QueueFixture f{broker::QueueOptions{.lock_duration = QueueFixture::lock_duration}};
    f.send("", {"1", "2", "3"});
    auto first = std::make_shared<RecordingTarget>();
    first->consumer = f.queue->open(broker::ReceiveMode::peek_lock, 0, first, f.at).value();
    const std::weak_ptr<broker::Consumer> watched = first->consumer;
    const auto got = f.pull(*first);
    REQUIRE(got.size() == 3);
    f.queue->retire(*first->consumer, f.at);
    const broker::ConsumerPtr kept = std::exchange(first->consumer, nullptr);
    auto second = std::make_shared<RecordingTarget>();
    second->consumer = f.queue->open(broker::ReceiveMode::peek_lock, 0, second, f.at).value();
    CHECK(f.pull(*second).empty());
    f.pass_and_advance(20s);
    CHECK(f.queue->renew_message(*kept, got[1].token, f.at).ok());
    broker::SettleOrder order{.token = got[0].token};
    f.queue->settle(*kept, std::span{&order, 1}, f.at);
    CHECK_FALSE(order.failed_with);
    f.pass_and_advance(11s); // the lock of the third ends
    const auto again = f.pull(*second);
    CHECK(f.text_of(again) == "3");
    CHECK(again.at(0).message.delivery_count() == 1);
    CHECK(second->notified == 1);
    f.pass_and_advance(20s);
    CHECK(f.pull_text(*second) == "2");
    CHECK(f.queue->renew_message(*kept, got[1].token, f.at).failure().code == Errc::lock_lost);
    CHECK(first->notified == 0);
    CHECK(watched.use_count() == 1); // the queue has let it go
}

TEST_CASE("queue without sessions: a deleted entity and a retired consumer end together") {
    QueueFixture f{broker::QueueOptions{.lock_duration = QueueFixture::lock_duration}};
    f.send("", {"1"});
    auto target = std::make_shared<RecordingTarget>();
    target->consumer = f.queue->open(broker::ReceiveMode::peek_lock, 0, target, f.at).value();
    const auto got = f.pull(*target);
    f.queue->retire(*target->consumer, f.at);
    REQUIRE(f.broker.delete_entity("orders", f.at).ok());
    CHECK_FALSE(target->lost); // it hears nothing more
    CHECK(f.settle(*target, got[0], Outcome::complete) == Errc::lock_lost);
}

TEST_CASE("session queue: retiring a consumer closes it") {
    QueueFixture f;
    f.send("a", {"1"});
    const auto a = f.accept("a");
    CHECK(f.pull_text(*a) == "1");
    f.queue->retire(*a->consumer, f.at);
    CHECK(f.accept("a")->consumer);
}

TEST_CASE("session queue: R29: ids that differ in case only are one session; each message keeps "
          "its own") {
    QueueFixture f;
    f.send("Order-A", {"1"});
    f.send("order-a", {"2"});
    f.send("ORDER-A", {"3"});
    CHECK(f.queue->list_sessions(0, 10, f.at) == std::vector<std::string>{"Order-A"});
    CHECK(f.peek_text(*f.queue, "oRDER-a") == "1 2 3");
    const auto link = f.accept("order-A");
    REQUIRE(link->consumer);
    CHECK(link->consumer->session_id == "order-A"); // as it was asked for
    CHECK(f.accept("Order-A")->refused == Errc::session_locked_elsewhere);
    CHECK(f.accept(std::nullopt)->refused == Errc::no_session_available);
    const auto got = f.pull(*link);
    CHECK(f.text_of(got) == "1 2 3");
    CHECK(got[0].message.session_id() == "Order-A");
    CHECK(got[1].message.session_id() == "order-a");
    CHECK(f.queue->set_state(*link->consumer, "half way", f.at).ok());
    f.close(*link);
    const auto again = f.accept("ORDER-a");
    REQUIRE(again->consumer);
    CHECK(f.queue->get_state(*again->consumer, f.at).value() == "half way");
    CHECK(f.queue->list_sessions_set_after({}, 0, 10, f.at) == std::vector<std::string>{"Order-A"});
    CHECK(f.queue->counts(f.at).sessions == 1);
    f.close(*again);
    const auto next = f.accept(std::nullopt);
    REQUIRE(next->consumer);
    CHECK(next->consumer->session_id == "Order-A");
    const auto letters = f.pull(*next);
    for (const auto& each : letters) {
        CHECK_FALSE(f.settle(*next, each, Outcome::dead_letter));
    }
    CHECK(f.peek_text(*f.dead_letters, "order-a") == "1 2 3"); // an entity without sessions
    CHECK(f.peek_text(*f.dead_letters, "order-b").empty());
}

TEST_CASE("session queue: an empty state is none") {
    QueueFixture f;
    const auto link = f.accept("a");
    REQUIRE(link->consumer);
    CHECK(f.queue->set_state(*link->consumer, "half way", f.at).ok());
    CHECK(f.queue->set_state(*link->consumer, "", f.at).ok());
    CHECK(f.queue->get_state(*link->consumer, f.at).value() == std::nullopt);
    f.close(*link);
    CHECK(f.queue->counts(f.at).sessions == 0);
}
