// SPDX-License-Identifier: MIT
#include "in_process/waiting_peeks.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "in_process/endpoint.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

struct WaitingPeeksFixture {
    WaitingPeeksFixture() {
        REQUIRE(broker->create_queue("orders", {.requires_session = true}, now()).ok());
    }

    [[nodiscard]] broker::Instant now() { return {loop.now(), loop.wall_now()}; }
    [[nodiscard]] broker::Queue& queue() { return *broker->find("orders").value(); }
    [[nodiscard]] std::size_t waiting() { return queue().counts(now()).waiting_browsers; }

    void send(std::string_view session, std::string_view text) {
        std::vector<Message> messages{Message::of(text).in_session(session)};
        REQUIRE(queue().send(std::move(messages), now()).ok());
    }
    ports::RequestId peek(Duration wait, Deadline deadline = Deadline::never()) {
        return endpoint->peek(
            {.entity = "orders", .max_messages = 10, .wait = wait, .deadline = deadline},
            [this](const core::Result<std::vector<ReceivedMessage>>& answer) {
                if (!answer) {
                    log += std::string{to_string(answer.failure().code)} + " ";
                    return;
                }
                log += "[";
                for (const ReceivedMessage& message : answer.value()) {
                    log += message.text();
                }
                log += "] ";
            });
    }

    test::ManualLoop loop{};
    std::shared_ptr<broker::Broker> broker{std::make_shared<broker::Broker>()};
    std::unique_ptr<in_process::Endpoint> endpoint{
        std::make_unique<in_process::Endpoint>(broker, loop)};
    std::string log{};
};

} // namespace

TEST_CASE("DG8: waiting peeks: the broker's word ends the wait; no time passes and nothing polls") {
    WaitingPeeksFixture f;
    f.peek(10s);
    f.peek(Duration::max());
    CHECK(f.loop.run_until_idle() <= 1); // the inbox is attached
    CHECK(f.loop.run_until_idle() == 0);
    CHECK(f.waiting() == 2);
    f.send("a", "1");
    CHECK(f.log.empty()); // never inside the call
    CHECK(f.loop.run_until_idle() == 1);
    CHECK(f.log == "[1] [1] ");
    CHECK(f.waiting() == 0);
    f.peek(10s);
    f.loop.run_until_idle();
    CHECK(f.log == "[1] [1] [1] ");
    CHECK(f.loop.timers().size() == 0);
}

TEST_CASE(
    "DG8: waiting peeks: a message that was removed before the look leaves the peek waiting") {
    WaitingPeeksFixture f;
    f.peek(10s);
    Message later = Message::of("1").in_session("a");
    later.scheduled_enqueue_time = f.loop.wall_now() + 1h;
    const auto sent = f.queue().send(std::vector<Message>{std::move(later)}, f.now()).value();
    REQUIRE(f.queue().cancel_scheduled(sent, f.now()).ok());
    f.loop.run_until_idle();
    CHECK(f.log.empty());
    CHECK(f.waiting() == 1);
    f.send("a", "2");
    f.loop.run_until_idle();
    CHECK(f.log == "[2] ");
}

TEST_CASE("waiting peeks: none is the answer after the wait, timeout at the deadline") {
    WaitingPeeksFixture f;
    f.peek(2s, Deadline::after(5s, f.loop.now()));
    f.peek(5s, Deadline::after(1s, f.loop.now()));
    f.loop.advance(999ms);
    CHECK(f.log.empty());
    f.loop.advance(1ms);
    CHECK(f.log == "timeout ");
    f.loop.advance(1s);
    CHECK(f.log == "timeout [] ");
    CHECK(f.waiting() == 0);
}

TEST_CASE(
    "waiting peeks: they end when they are given up, with the entity, and with the endpoint") {
    WaitingPeeksFixture f;
    const auto id = f.peek(10s);
    f.endpoint->give_up(id);
    f.endpoint->give_up(id + 100);
    f.loop.run_until_idle();
    CHECK(f.log == "cancelled ");
    CHECK(f.waiting() == 0);
    f.peek(10s);
    REQUIRE(f.broker->delete_entity("orders", f.now()).ok());
    f.loop.run_until_idle();
    CHECK(f.log == "cancelled entity_not_found ");
    REQUIRE(f.broker->create_queue("orders", {.requires_session = true}, f.now()).ok());
    f.peek(10s);
    f.send("a", "1"); // told, and its turn comes too late
    f.peek(10s);
    f.endpoint.reset();
    CHECK(f.log == "cancelled entity_not_found cancelled cancelled ");
    f.loop.run_until_idle();
    CHECK(f.waiting() == 0);
}

TEST_CASE("waiting peeks: a peek of no messages does not wait") {
    WaitingPeeksFixture f;
    f.send("a", "1");
    std::size_t seen = 1;
    f.endpoint->peek({.entity = "orders", .max_messages = 0, .wait = 10s},
                     [&](const auto& answer) { seen = answer.value().size(); });
    f.loop.run_until_idle();
    CHECK(seen == 0);
}

TEST_CASE("waiting peeks: an answer may destroy the endpoint") {
    WaitingPeeksFixture f;
    int answers = 0;
    for (int i = 0; i < 2; ++i) {
        f.endpoint->peek({.entity = "orders", .wait = 10s}, [&](const auto&) {
            ++answers;
            f.endpoint.reset();
        });
    }
    f.send("a", "1");
    f.loop.run_until_idle();
    CHECK(answers == 2);
}
