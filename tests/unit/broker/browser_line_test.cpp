// SPDX-License-Identifier: MIT
#include "broker/browser_line.hpp"

#include <doctest/doctest.h>

#include "queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

struct RecordingBrowser final : broker::BrowserTarget {
    void notify_message() noexcept override { ++notified; }
    void on_deleted(Failure why) noexcept override { deleted = why.code; }

    int notified{0};
    std::optional<Errc> deleted{};
};

std::shared_ptr<RecordingBrowser> browse(QueueFixture& f, broker::BrowseSpec spec = {}) {
    auto browser = std::make_shared<RecordingBrowser>();
    f.queue->browse(std::move(spec), browser, f.at);
    return browser;
}

} // namespace

TEST_CASE("DG8: browsers: one that waits is told once of the next message; one that need not wait, "
          "at once") {
    QueueFixture f;
    const auto first = browse(f);
    const auto second = browse(f);
    CHECK(first->notified == 0);
    CHECK(f.queue->counts(f.at).waiting_browsers == 2);
    f.send("a", {"1", "2"});
    f.send("a", {"3"});
    CHECK(first->notified == 1);
    CHECK(second->notified == 1);
    CHECK(browse(f, {.from = 3})->notified == 1);
    CHECK(f.queue->counts(f.at).waiting_browsers == 0);
}

TEST_CASE("DG8: browsers: only a message of the session and from the number on is told of") {
    QueueFixture f;
    const auto of_b = browse(f, {.session_id = "b"});
    const auto from_3 = browse(f, {.from = 3});
    f.send("a", {"1", "2"});
    CHECK(of_b->notified == 0);
    CHECK(from_3->notified == 0);
    f.send("b", {"3"});
    CHECK(of_b->notified == 1);
    CHECK(from_3->notified == 1);
    QueueFixture plain{broker::QueueOptions{}};
    const auto of_c = browse(plain, {.session_id = "c"});
    plain.send("b", {"1"});
    CHECK(of_c->notified == 0);
    plain.send("c", {"2"});
    CHECK(of_c->notified == 1);
}

TEST_CASE("DG8: browsers: a scheduled message is told of when it is sent and when it is due, and a "
          "dead letter") {
    QueueFixture f;
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = f.at.wall + 10s;
    const auto sent = browse(f);
    f.send(std::move(later));
    CHECK(sent->notified == 1);
    const auto due = browse(f, {.from = 2});
    const auto dead = std::make_shared<RecordingBrowser>();
    f.dead_letters->browse({}, dead, f.at);
    f.pass_and_advance(9s);
    CHECK(due->notified == 0);
    f.pass_and_advance(1s);
    CHECK(due->notified == 1);
    CHECK(dead->notified == 0);
    const auto holder = f.accept("a");
    f.settle(*holder, f.pull(*holder).front(), broker::Outcome::dead_letter);
    CHECK(dead->notified == 1);
}

TEST_CASE("DG8: browsers: one that waits takes neither the message nor the notification of a "
          "consumer") {
    QueueFixture f;
    const auto holder = f.accept("a");
    CHECK(f.pull(*holder).empty()); // now it wants to be notified
    const auto waiting = f.accept(std::nullopt, 10s);
    const auto browser = browse(f);
    f.send("a", {"1"});
    f.send("b", {"2"});
    CHECK(browser->notified == 1);
    CHECK(holder->notified == 1);
    REQUIRE(waiting->consumer);
    const auto got = f.pull(*holder);
    REQUIRE(got.size() == 1);
    CHECK(got.front().message.delivery_count() == 0);
    CHECK_FALSE(got.front().message.facts().redelivered);
    CHECK(f.pull_text(*waiting) == "2");
}

TEST_CASE("DG8: browsers: a cancelled wait hears nothing, and a deletion ends the others") {
    QueueFixture f;
    const auto cancelled = std::make_shared<RecordingBrowser>();
    f.queue->cancel_browse(f.queue->browse({}, cancelled, f.at), f.at);
    f.queue->cancel_browse(0, f.at);
    const auto waiting = browse(f);
    const auto queue = f.queue;
    REQUIRE(f.broker.delete_entity("orders", f.at).ok());
    CHECK(cancelled->notified == 0);
    CHECK_FALSE(cancelled->deleted);
    CHECK(waiting->deleted == Errc::entity_not_found);
    CHECK(browse(f)->deleted == Errc::entity_not_found);
    CHECK(queue->counts(f.at).waiting_browsers == 0);
}
