// SPDX-License-Identifier: MIT
// Ends a broker at every instant while messages are forwarded. Each message must be in exactly one
// place, its source or its destination.
#include <doctest/doctest.h>

#include <algorithm>
#include <future>

#include "unit/broker/restartable_broker.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace sessionq::broker;

namespace {

/// Records every call.
class RecordingJournal final : public Journal {
public:
    [[nodiscard]] EntityId make_entity_id() override { return ++last_id_; }
    void append(std::vector<Change> changes) override { appended.push_back(std::move(changes)); }
    [[nodiscard]] Mark last() const noexcept override { return appended.size(); }
    void when_durable(Durable done) override { done(last(), nullptr); }
    [[nodiscard]] bool is_failing() const noexcept override { return false; }
    [[nodiscard]] bool is_behind() const noexcept override { return false; }
    [[nodiscard]] bool is_full() const noexcept override { return false; }

    std::vector<std::vector<Change>> appended{};

private:
    EntityId last_id_{0};
};

struct Scene {
    const Instant at{TimePoint{1h}, WallTime{std::chrono::hours{24 * 365 * 50}}};
    std::shared_ptr<RecordingJournal> journal{std::make_shared<RecordingJournal>()};
    Broker broker{journal, {}, at};

    /// The number of messages in each queue if the broker had ended after `calls` calls and
    /// restarted. Each call is a commit of its own.
    std::vector<std::size_t> found(std::size_t calls,
                                   const std::vector<std::string>& queues) const {
        const TemporaryDirectory directory;
        const auto codec = std::make_shared<const server::StoredContent>(
            amqp::ClockReading{.now = at.now, .wall = at.wall});
        {
            auto store =
                StoreJournal::open(directory.path(), codec, at.wall, core::system_clock()).value();
            for (std::size_t i = 0; i < calls; ++i) {
                store.journal->append(journal->appended[i]);
                std::promise<void> committed;
                store.journal->when_durable(
                    [&](Journal::Mark, const Failure*) { committed.set_value(); });
                committed.get_future().wait();
            }
        }
        auto opened =
            StoreJournal::open(directory.path(), codec, at.wall, core::system_clock()).value();
        Broker again{opened.journal, std::move(opened.stored), at};
        again.begin(at);
        std::vector<std::size_t> counts;
        for (const std::string& name : queues) {
            counts.push_back(again.find(name).value()->counts(at).active);
        }
        return counts;
    }
    void create(const std::string& name, const QueueOptions& options = {}) {
        CHECK(broker.create_queue(name, options, at).ok());
    }
    void send(const std::string& name, Message message = {.body = "1"}) {
        std::vector<Message> messages;
        messages.push_back(std::move(message));
        CHECK(broker.find(name).value()->send(std::move(messages), at).ok());
    }
    /// Checks every instant of `operation`: the counts are the same whenever the broker ends.
    void check(const std::vector<std::string>& queues, const std::vector<std::size_t>& wanted,
               const std::function<void()>& operation) {
        const std::size_t before = journal->appended.size();
        operation();
        REQUIRE(journal->appended.size() > before + 1);
        for (std::size_t calls = before + 1; calls <= journal->appended.size(); ++calls) {
            CAPTURE(calls);
            CHECK(found(calls, queues) == wanted);
        }
    }
};

} // namespace

TEST_CASE("forwarding restored: a message is in exactly one place, whenever the broker ends") {
    Scene scene;
    scene.create("end");
    scene.create("middle", {.forward_to = "end"});
    scene.create("begin", {.forward_to = "middle"});
    scene.check({"begin", "middle", "end"}, {0, 0, 1}, [&] { scene.send("begin"); });
}

TEST_CASE("forwarding restored: a dead letter is in exactly one place, whenever the broker ends") {
    Scene scene;
    scene.create("graves");
    scene.create("orders", {.forward_dead_letters_to = "graves"});
    scene.send("orders");
    const auto queue = scene.broker.find("orders").value();
    const auto target = std::make_shared<RecordingTarget>();
    const auto consumer = queue->open(ReceiveMode::peek_lock, 0, target, scene.at).value();
    std::vector<Delivered> got;
    queue->pull(*consumer, 1, got, scene.at);
    scene.check({"orders", "orders/$DeadLetterQueue", "graves"}, {0, 0, 1}, [&] {
        SettleOrder order{.token = got.front().token, .outcome = Outcome::dead_letter};
        queue->settle(*consumer, {&order, 1}, scene.at);
    });
}

TEST_CASE("forwarding restored: each subscription gets a message once, also those that forward it, "
          "whenever the broker ends") {
    Scene scene;
    scene.create("archive");
    CHECK(scene.broker.create_topic("news", {}, scene.at).ok());
    const std::vector<Rule> twice{{.name = "as it is"},
                                  {.name = "a copy", .action = "SET copied = 1"}};
    for (const auto& [name, options, rules] : {std::tuple{"a", QueueOptions{}, std::vector<Rule>{}},
                                               {"b",
                                                QueueOptions{.requires_session = true},
                                                // a message without a session id is dead-lettered
                                                {}},
                                               {"c", QueueOptions{.forward_to = "archive"}, {}},
                                               {"d", QueueOptions{}, twice}}) {
        CHECK(scene.broker.create_subscription("news", name, options, rules, scene.at).ok());
    }
    const std::vector<std::string> queues{"news/Subscriptions/a",
                                          "news/Subscriptions/b",
                                          "news/Subscriptions/b/$DeadLetterQueue",
                                          "news/Subscriptions/c",
                                          "archive",
                                          "news/Subscriptions/d"};
    scene.check(queues, {1, 0, 1, 0, 1, 2}, [&] { scene.send("news"); });
}
