// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::AcceptClaim;

namespace {

/// Two queues, and asks for a session of either.
struct Fixture {
    struct Ask {
        int answers() const {
            int count = 0;
            for (const auto& target : targets) {
                count += target->consumer ? 1 : 0;
                count += target->refused ? 1 : 0;
            }
            return count;
        }
        std::string session() const {
            for (const auto& target : targets) {
                if (target->consumer) {
                    return target->consumer->session_id;
                }
            }
            return "none";
        }
        std::shared_ptr<AcceptClaim> claim{std::make_shared<AcceptClaim>(2)};
        std::array<std::shared_ptr<RecordingTarget>, 2> targets{
            std::make_shared<RecordingTarget>(), std::make_shared<RecordingTarget>()};
        std::array<broker::OperationId, 2> waits{};
    };

    Fixture() {
        for (const char* name : {"a", "b"}) {
            const broker::QueueOptions options{.requires_session = true, .lock_duration = 30s};
            REQUIRE(broker.create_queue(name, options, at).ok());
            queues.push_back(broker.find(name).value());
        }
    }
    ~Fixture() { // consumers and their targets own each other
        static_cast<void>(broker.delete_entity("a", at));
        static_cast<void>(broker.delete_entity("b", at));
    }
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    void ask_at(Ask& ask, std::size_t queue, Duration wait = 10s, int priority = 0) {
        ask.waits[queue] = queues[queue]->accept(
            {.priority = priority, .until = at.now + wait, .claim = ask.claim}, ask.targets[queue],
            at);
    }
    Ask ask(Duration wait = 10s, int priority = 0) {
        Ask made;
        ask_at(made, 0, wait, priority);
        ask_at(made, 1, wait, priority);
        return made;
    }
    std::shared_ptr<RecordingTarget> ask_one(std::size_t queue, Duration wait = 0s) {
        auto target = std::make_shared<RecordingTarget>();
        queues[queue]->accept({.until = at.now + wait}, target, at);
        return target;
    }
    bool cancel(Ask& ask, std::size_t queue) {
        return queues[queue]->cancel_accept(ask.waits[queue], at);
    }
    void send(std::size_t queue, std::string_view session) {
        std::vector<Message> messages;
        messages.push_back(Message::of("1").in_session(session));
        CHECK(queues[queue]->send(std::move(messages), at).ok());
    }
    void pass_and_advance(Duration length) {
        at.now += length;
        broker.advance(at);
    }

    broker::Instant at{TimePoint{1h}, WallTime{std::chrono::hours{24 * 365 * 50}}};
    broker::Broker broker{};
    std::vector<broker::QueuePtr> queues{};
};

} // namespace

TEST_CASE("shared accept: the first entity that has a session answers, and no other") {
    Fixture f;
    const auto ask = f.ask();
    f.send(1, "s");
    CHECK(ask.session() == "s");
    f.send(0, "t"); // not swallowed by the wait that is still in line
    CHECK(ask.answers() == 1);
    CHECK(f.ask_one(0)->consumer->session_id == "t");
}

TEST_CASE("shared accept: a session goes past an answered ask to the next in line at once") {
    Fixture f;
    const auto answered = f.ask(10s, 5);
    const auto next = f.ask_one(0, 10s);
    const auto both = f.ask();
    f.send(1, "s");
    CHECK(answered.session() == "s");
    f.send(0, "t");
    CHECK(next->consumer->session_id == "t");
    f.send(0, "u");
    CHECK(both.session() == "u");
    CHECK(both.answers() == 1);
}

TEST_CASE("shared accept: one send may pass several answered asks and serve those behind them") {
    Fixture f;
    std::vector<Fixture::Ask> answered;
    for (int i = 0; i < 3; ++i) {
        answered.push_back(f.ask());
        f.send(1, "s" + std::to_string(i));
        CHECK(answered.back().session() == "s" + std::to_string(i));
    }
    const auto first = f.ask_one(0, 10s);
    const auto second = f.ask_one(0, 10s);
    CHECK(f.queues[0]
              ->send({Message::of("1").in_session("x"), Message::of("2").in_session("y")}, f.at)
              .ok());
    CHECK(first->consumer->session_id == "x");
    CHECK(second->consumer->session_id == "y");
    CHECK(f.queues[0]->counts(f.at).waiting_accepts == 0);
}

TEST_CASE("shared accept: priorities count at each entity as for an ask of one (DG6)") {
    Fixture f;
    const auto low = f.ask_one(0, 10s);
    const auto high = f.ask(10s, 1);
    f.send(0, "s");
    CHECK(high.session() == "s");
    CHECK_FALSE(low->consumer);
}

TEST_CASE("shared accept: the wait is one for all entities, and ends once") {
    Fixture f;
    const auto ask = f.ask(10s);
    f.pass_and_advance(10s - 1ms);
    CHECK(ask.answers() == 0);
    f.pass_and_advance(1ms);
    CHECK(ask.answers() == 1);
    CHECK((ask.targets[0]->refused == Errc::no_session_available ||
           ask.targets[1]->refused == Errc::no_session_available));
    f.send(0, "s");
    f.send(1, "t");
    CHECK(ask.answers() == 1);
}

TEST_CASE("shared accept: without a wait it is refused only if no entity has a session") {
    Fixture f;
    const auto none = f.ask(0s);
    CHECK(none.answers() == 1);
    CHECK(none.targets[1]->refused == Errc::no_session_available);
    f.send(1, "s");
    const auto one = f.ask(0s);
    CHECK(one.session() == "s");
    CHECK(one.answers() == 1);
}

TEST_CASE("shared accept: an entity that is deleted ends the ask") {
    Fixture f;
    const auto ask = f.ask();
    CHECK(f.broker.delete_entity("b", f.at).ok());
    CHECK(ask.targets[1]->refused == Errc::entity_not_found);
    f.send(0, "s");
    CHECK(ask.answers() == 1);
    CHECK(f.ask_one(0)->consumer->session_id == "s");
}

TEST_CASE("shared accept: it is answered once in every order of sends, cancellations and its "
          "timeout, and no session is lost") {
    enum Step : int { send_a, send_b, cancel_a, cancel_b, ask_b, time_out, steps };
    std::vector<int> order(steps);
    for (int i = 0; i < steps; ++i) {
        order[static_cast<std::size_t>(i)] = i;
    }
    do {
        Fixture f;
        std::string trace;
        Fixture::Ask ask;
        f.ask_at(ask, 0);
        const auto behind_a = f.ask_one(0, 60s);
        const auto behind_b = f.ask_one(1, 60s);
        bool is_asked = false;
        std::array<bool, 2> is_cancelled{};
        for (const int step : order) {
            trace += std::to_string(step);
            switch (step) {
            case send_a: f.send(0, "a"); break;
            case send_b: f.send(1, "b"); break;
            case cancel_a: is_cancelled[0] = f.cancel(ask, 0); break;
            case cancel_b: is_cancelled[1] = f.cancel(ask, 1); break;
            case ask_b:
                is_asked = true;
                f.ask_at(ask, 1, 5s);
                break;
            case time_out: f.pass_and_advance(11s); break;
            default: FAIL("no such step");
            }
            CHECK(ask.answers() <= 1);
        }
        CAPTURE(trace);
        f.pass_and_advance(11s); // an ask at b may be younger than the timeout
        // It has one answer, unless a cancellation withdrew what could have answered.
        CHECK(is_asked);
        CHECK(ask.answers() + (is_cancelled[0] || is_cancelled[1] ? 1 : 0) >= 1);
        // Both sessions are held: by the ask, or by who waited behind it.
        const bool held_a = ask.targets[0]->consumer || behind_a->consumer;
        const bool held_b = ask.targets[1]->consumer || behind_b->consumer;
        CHECK(held_a);
        CHECK(held_b);
    } while (std::ranges::next_permutation(order).found);
}

namespace {

/// Answers a shared ask on any thread. Closes the session and counts.
struct CountingTarget final : broker::ConsumerTarget {
    explicit CountingTarget(broker::QueuePtr of, std::atomic<int>& to)
        : queue{std::move(of)}, answers{to} {}
    void on_accepted(broker::ConsumerPtr granted) noexcept override {
        ++answers;
        std::vector<broker::Delivered> got;
        queue->pull(*granted, 100, got, at);
        for (const broker::Delivered& each : got) {
            broker::SettleOrder order{.token = each.token, .outcome = broker::Outcome::complete};
            queue->settle(*granted, {&order, 1}, at);
            ++completed;
        }
        queue->close(*granted, at);
    }
    void on_refused(Failure) noexcept override { ++answers; }
    void notify_work() noexcept override {}
    void on_lost(Failure) noexcept override {}

    const broker::QueuePtr queue;
    std::atomic<int>& answers;
    std::atomic<int> completed{0};
    const broker::Instant at{TimePoint{1h}};
};

} // namespace

TEST_CASE("shared accept: threads that send, ask and cancel at two entities lose nothing, and each "
          "ask is answered at most once") {
    broker::Broker broker;
    const broker::Instant at{TimePoint{1h}};
    std::array<broker::QueuePtr, 2> queues;
    for (const std::size_t i : {0U, 1U}) {
        const std::string name = i == 0 ? "a" : "b";
        REQUIRE(broker.create_queue(name, {.requires_session = true}, at).ok());
        queues[i] = broker.find(name).value();
    }
    constexpr int senders = 2;
    constexpr int sent_by_each = 400;
    std::atomic<int> completed{0};
    std::vector<std::thread> running;
    for (int s = 0; s < senders; ++s) {
        running.emplace_back([&, s] {
            for (int i = 0; i < sent_by_each; ++i) {
                std::vector<Message> messages;
                messages.push_back(
                    Message::of("1").in_session(std::to_string(s) + "/" + std::to_string(i)));
                static_cast<void>(
                    queues[static_cast<std::size_t>(i + s) % 2]->send(std::move(messages), at));
            }
        });
    }
    const auto all_completed = [&] { return completed.load() == senders * sent_by_each; };
    for (std::uint64_t asker = 0; asker < 2; ++asker) {
        running.emplace_back([&, asker] {
            core::Random random{asker};
            while (!all_completed()) {
                std::atomic<int> answers{0};
                const auto claim = std::make_shared<AcceptClaim>(2);
                std::array<std::shared_ptr<CountingTarget>, 2> targets;
                std::array<broker::OperationId, 2> waits{};
                for (const std::size_t i : {0U, 1U}) {
                    targets[i] = std::make_shared<CountingTarget>(queues[i], answers);
                    waits[i] = queues[i]->accept({.until = TimePoint::max(), .claim = claim},
                                                 targets[i], at);
                }
                const bool cancels = random() % 4 == 0 && claim->take();
                while (!cancels && answers.load() == 0 && !all_completed()) {
                    std::this_thread::yield();
                }
                claim->take();
                for (const std::size_t i : {0U, 1U}) {
                    queues[i]->cancel_accept(waits[i], at);
                }
                // an answer under way was counted before its entity gave up the lock's effects
                while (targets[0].use_count() > 1 || targets[1].use_count() > 1) {
                    std::this_thread::yield();
                }
                CHECK(answers <= 1);
                completed += targets[0]->completed + targets[1]->completed;
            }
        });
    }
    for (std::thread& each : running) {
        each.join();
    }
    CHECK(completed == senders * sent_by_each);
}
