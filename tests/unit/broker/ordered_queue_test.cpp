// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "unit/broker/queue_fixture.hpp"
#include "unit/broker/restartable_broker.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::Outcome;

namespace {

const broker::QueueOptions by_priority{.lock_duration = QueueFixture::lock_duration,
                                       .max_delivery_count = 3,
                                       .dead_letter_on_expiration = true,
                                       .order = MessageOrder::priority};
const broker::QueueOptions by_due{.lock_duration = QueueFixture::lock_duration,
                                  .max_delivery_count = 3,
                                  .order = MessageOrder::property,
                                  .order_property = "due"};

struct Fixture : QueueFixture {
    using QueueFixture::QueueFixture;
    using QueueFixture::send;

    void send_with(std::uint8_t priority, const std::string& body) {
        send(Message{.body = body, .priority = priority});
    }
    void send_due(PropertyValue due, const std::string& body) {
        send(Message{.body = body, .properties = {{"due", std::move(due)}}});
    }
    std::shared_ptr<RecordingTarget> open(
        broker::ReceiveMode mode = broker::ReceiveMode::peek_lock) {
        auto target = std::make_shared<RecordingTarget>();
        target->consumer = queue->open(mode, 0, target, at).value();
        return target;
    }
};

} // namespace

TEST_CASE("ordered queue: the highest priority is delivered first, then by arrival (DG7)") {
    Fixture f{by_priority};
    f.send_with(1, "low1");
    f.send_with(9, "high1");
    f.send_with(4, "middle");
    f.send_with(9, "high2");
    f.send_with(1, "low2");
    const auto a = f.open();
    CHECK(f.pull_text(*a) == "high1 high2 middle low1 low2");
}

TEST_CASE("ordered queue: the lowest value of a property is delivered first, and messages without "
          "it last") {
    Fixture f{by_due};
    f.send(Message{.body = "none1"});
    f.send_due(std::int64_t{20}, "20");
    f.send_due(std::string{"a"}, "text");
    f.send_due(3.5, "3.5");
    f.send_due(std::int64_t{20}, "20again");
    f.send(Message{.body = "none2"});
    const auto a = f.open();
    CHECK(f.pull_text(*a, 1) == "3.5");
    CHECK(f.pull_text(*a) == "20 20again text none1 none2");
}

TEST_CASE("ordered queue: a waiting consumer is notified, and gets what is first when it pulls") {
    Fixture f{by_priority};
    const auto a = f.open();
    const auto b = f.open();
    CHECK(f.pull(*a, 1).empty());
    CHECK(f.pull(*b, 1).empty());
    f.send_with(1, "low");
    CHECK(a->notified == 1);
    CHECK(b->notified == 0);
    f.send_with(9, "high");
    CHECK(b->notified == 1);
    CHECK(f.pull_text(*a, 1) == "high");
    CHECK(f.pull_text(*b, 1) == "low");
}

TEST_CASE("ordered queue: a returned message has its place in the order again") {
    Fixture f{by_priority};
    f.send_with(9, "high1");
    f.send_with(9, "high2");
    f.send_with(1, "low");
    const auto a = f.open();
    const auto got = f.pull(*a);
    CHECK_FALSE(f.settle(*a, got[2], Outcome::release));
    CHECK_FALSE(f.settle(*a, got[1], Outcome::abandon));
    f.send_with(4, "middle");
    CHECK_FALSE(f.settle(*a, got[0], Outcome::abandon));
    CHECK(f.pull_text(*a) == "high1 high2 middle low");
    f.pass_and_advance(f.lock_duration); // all locks expire
    CHECK(f.pull_text(*a) == "high1 high2 middle low");
}

TEST_CASE("ordered queue: changing the property while abandoning changes the message's place") {
    Fixture f{by_due};
    f.send_due(std::int64_t{1}, "first");
    f.send_due(std::int64_t{2}, "second");
    const auto a = f.open();
    const auto got = f.pull(*a, 1);
    CHECK_FALSE(f.settle(*a, got[0], Outcome::abandon,
                         {.properties = {{"due", PropertyValue{std::int64_t{3}}}}}));
    CHECK(f.pull_text(*a) == "second first");
    CHECK(f.count(*f.queue) == 2);
}

TEST_CASE("ordered queue: schedules, deferral, time to live and dead-lettering work in any order") {
    Fixture f{by_priority};
    const auto a = f.open();
    f.send(Message{.body = "scheduled",
                   .priority = 9,
                   .scheduled_enqueue_time = f.at.wall + std::chrono::seconds{5}});
    f.send(Message{.body = "short", .time_to_live = 3s, .priority = 8});
    f.send_with(2, "deferred");
    f.send_with(1, "low");
    f.pass_and_advance(3s);
    CHECK(f.peek_text(*f.dead_letters) == "short");
    auto got = f.pull(*a, 1);
    REQUIRE(f.text_of(got) == "deferred");
    const std::vector<std::int64_t> asked{got[0].message.sequence_number()};
    CHECK_FALSE(f.settle(*a, got[0], Outcome::defer));
    f.pass_and_advance(2s);
    got = f.pull(*a);
    CHECK(f.text_of(got) == "scheduled low");
    CHECK_FALSE(f.settle(*a, got[0], Outcome::dead_letter));
    CHECK_FALSE(f.settle(*a, got[1], Outcome::complete));
    got.clear();
    CHECK(f.queue->receive_deferred(*a->consumer, asked, got, f.at).ok());
    CHECK_FALSE(f.settle(*a, got.at(0), Outcome::complete));
    CHECK(f.count(*f.queue) == 0);
    CHECK(f.peek_text(*f.dead_letters) == "short scheduled"); // dead letters come by arrival
}

TEST_CASE("ordered queue: receive and delete takes in order, and browsing goes by sequence") {
    Fixture f{by_priority};
    f.send_with(1, "low");
    f.send_with(9, "high");
    CHECK(f.peek_text(*f.queue) == "low high");
    const auto a = f.open(broker::ReceiveMode::receive_and_delete);
    CHECK(f.pull_text(*a, 1) == "high");
    CHECK(f.pull_text(*a, 1) == "low");
    CHECK(f.count(*f.queue) == 0);
}

TEST_CASE("ordered queue: whatever comes, goes and returns, messages come in order and none is "
          "lost") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        core::Random random{seed};
        Fixture f{
            {.max_delivery_count = 1000, .order = MessageOrder::property, .order_property = "due"}};
        const auto a = f.open();
        int sent = 0;
        int completed = 0;
        for (int step = 0; step < 60; ++step) {
            f.send_due(static_cast<std::int64_t>(random() % 5), std::to_string(sent++));
            auto got = f.pull(*a, static_cast<std::uint32_t>(random() % 4));
            for (std::size_t i = 0; i < got.size(); ++i) {
                const auto due = [&](std::size_t at) {
                    return std::pair{
                        std::get<std::int64_t>(got[at].message.properties().find("due")->second),
                        got[at].message.sequence_number()};
                };
                if (i > 0) {
                    CHECK(due(i - 1) < due(i));
                }
                const bool completes = random() % 2 == 0;
                completed += completes ? 1 : 0;
                CHECK_FALSE(f.settle(*a, got[i], completes ? Outcome::complete : Outcome::release));
            }
        }
        CHECK(f.pull(*a, 1000).size() == static_cast<std::size_t>(sent - completed));
    }
}

TEST_CASE("ordered queue: the order survives a restart, and can be changed then") {
    RestartableBroker host;
    host.create("plain", by_priority);
    for (const std::uint8_t priority : std::initializer_list<std::uint8_t>{1, 9, 4}) {
        host.send("plain", Message{.body = std::to_string(priority), .priority = priority});
    }
    const auto received = [&] {
        auto target = std::make_shared<RecordingTarget>();
        target->consumer =
            host.queue("plain")->open(broker::ReceiveMode::peek_lock, 0, target, host.at).value();
        const std::string text = QueueFixture::text_of(host.pull("plain", *target));
        host.queue("plain")->close(*target->consumer, host.at);
        return text;
    };
    host.restart();
    CHECK(host.queue("plain")->options().order == MessageOrder::priority);
    CHECK(received() == "9 4 1");
    host.restart();
    host.create("plain", {});
    CHECK(received() == "1 9 4");
}
