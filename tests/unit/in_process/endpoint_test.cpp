// SPDX-License-Identifier: MIT
#include "in_process/endpoint.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/held_journal.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<broker::Broker> broker_with_queue(core::EventLoop& loop) {
    auto broker = std::make_shared<broker::Broker>();
    static_cast<void>(broker
                          ->create_queue("orders", {.requires_session = true, .lock_duration = 30s},
                                         {loop.now(), loop.wall_now()})
                          .value());
    return broker;
}

void send(ports::Endpoint& endpoint, std::string_view session, int count) {
    std::vector<Message> messages;
    for (int i = 0; i < count; ++i) {
        messages.push_back(Message::of(std::to_string(i)).in_session(session));
    }
    endpoint.send({"orders", std::move(messages)}, [](const auto& sent) { CHECK(sent.ok()); });
}

/// Takes sessions one after another and completes what is in them.
struct Slot final : ports::LinkEvents {
    Slot(ports::Endpoint& on, std::atomic<int>& counter) : endpoint{on}, completed{counter} {}
    void accept() {
        endpoint.accept({.entity = "orders", .wait = 10s}, [this](auto result) {
            if (result) {
                link = std::move(result).value();
                link->set_events(*this);
                link->add_credit(10);
                link->drain();
            }
        });
    }
    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<ports::Delivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override {
        held.push_back(std::move(delivery));
        link->settle(*held.back(), {});
    }
    void on_settled(ports::Delivery&, const Failure* failure) override {
        CHECK(failure == nullptr);
        ++completed;
        leave_when_empty();
    }
    void on_drained() override {
        is_drained = true;
        leave_when_empty();
    }
    void on_lost(const Failure&) override { FAIL("lost"); }
    void leave_when_empty() {
        ++settled_here;
        if (!is_drained || settled_here < held.size() + 1) {
            return;
        }
        is_drained = false;
        settled_here = 0;
        held.clear();
        link->close([](const auto& done) { CHECK(done.ok()); });
        accept();
    }

    ports::Endpoint& endpoint;
    std::atomic<int>& completed;
    ports::SessionLinkPtr link{};
    std::vector<ports::DeliveryPtr> held{};
    std::size_t settled_here{0};
    bool is_drained{false};
};

/// Takes a session's messages, which are removed when they are received.
struct Remover final : ports::LinkEvents {
    explicit Remover(ports::Endpoint& on) {
        on.accept({.entity = "orders",
                   .session_id = "a",
                   .mode = ports::ReceiveMode::receive_and_delete,
                   .wait = 10s},
                  [this](auto result) {
                      link = std::move(result).value();
                      link->set_events(*this);
                      link->add_credit(10);
                  });
    }
    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<ports::Delivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override {
        CHECK(delivery->settled_by_sender);
        log += std::string{delivery->message.text()} + " ";
        if (closes) {
            link->close([](const auto&) {});
        }
    }
    void on_settled(ports::Delivery&, const Failure*) override { FAIL("settled"); }
    void on_drained() override { log += "drained "; }
    void on_lost(const Failure& why) override { log += std::string{to_string(why.code)} + " "; }

    ports::SessionLinkPtr link{};
    std::string log{};
    bool closes{false};
};

/// Takes a session's messages, and settles them when the test says so.
struct Settler final : ports::LinkEvents {
    explicit Settler(ports::Endpoint& on) {
        on.accept({.entity = "orders", .session_id = "a", .wait = 10s}, [this](auto result) {
            link = std::move(result).value();
            link->set_events(*this);
            link->add_credit(10);
        });
    }
    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<ports::Delivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override {
        log += std::string{delivery->message.text()} + " ";
        got.push_back(std::move(delivery));
    }
    void on_settled(ports::Delivery&, const Failure* why) override {
        CHECK(why == nullptr);
        log += "settled ";
    }
    void on_drained() override { log += "drained "; }
    void on_lost(const Failure& why) override { log += std::string{to_string(why.code)} + " "; }

    std::vector<ports::DeliveryPtr> got{};
    ports::SessionLinkPtr link{};
    std::string log{};
};

/// A broker whose journal answers when the test says so.
struct Held {
    Held() {
        REQUIRE(broker
                    ->create_queue("orders", {.requires_session = true, .lock_duration = 30s},
                                   {loop.now(), loop.wall_now()})
                    .ok());
        send(2);
    }
    void send(int count) {
        std::vector<Message> messages;
        for (int i = 0; i < count; ++i) {
            messages.push_back(Message::of(std::to_string(++sent)).in_session("a"));
        }
        REQUIRE(broker->find("orders")
                    .value()
                    ->send(std::move(messages), {loop.now(), loop.wall_now()})
                    .ok());
        loop.run_until_idle();
    }
    void answer(const std::optional<Failure>& why = std::nullopt) {
        loop.run_until_idle();
        journal->answer(why);
        loop.run_until_idle();
    }

    test::ManualLoop loop{};
    std::shared_ptr<test::HeldJournal> journal{std::make_shared<test::HeldJournal>()};
    std::shared_ptr<broker::Broker> broker{std::make_shared<broker::Broker>(
        journal, std::vector<broker::DurableQueue>{}, broker::Instant{})};
    in_process::Endpoint endpoint{broker, loop};
    int sent{0};
};

} // namespace

TEST_CASE("endpoint: settlements of one turn are one batch, and so are deliveries") {
    test::ManualLoop loop;
    in_process::Endpoint endpoint{broker_with_queue(loop), loop};
    send(endpoint, "a", 100);
    std::atomic<int> completed{0};
    Slot slot{endpoint, completed};
    endpoint.accept({.entity = "orders"}, [&](auto result) {
        slot.link = std::move(result).value();
        slot.link->set_events(slot);
    });
    loop.run_until_idle();
    slot.link->add_credit(100);
    CHECK(loop.run_until_idle() == 2); // all deliveries in one turn, all settlements in the next
    CHECK(completed == 100);
}

TEST_CASE("endpoint: a link may outlive its endpoint") {
    test::ManualLoop loop;
    const auto broker = broker_with_queue(loop);
    ports::SessionLinkPtr link;
    {
        in_process::Endpoint endpoint{broker, loop};
        endpoint.accept({.entity = "orders", .session_id = "a"},
                        [&](auto result) { link = std::move(result).value(); });
        loop.run_until_idle();
    }
    bool is_renewed = false;
    link->renew_lock({}, [&](const auto& renewed) { is_renewed = renewed.ok(); });
    loop.run_until_idle();
    CHECK(is_renewed);
    link.reset();
    in_process::Endpoint next{broker, loop};
    bool is_granted = false;
    next.accept({.entity = "orders", .session_id = "a"},
                [&](const auto& result) { is_granted = result.ok(); });
    loop.run_until_idle();
    CHECK(is_granted);
}

TEST_CASE("endpoint: it may be destroyed from within its own handlers") {
    test::ManualLoop loop;
    auto endpoint = std::make_unique<in_process::Endpoint>(broker_with_queue(loop), loop);
    std::vector<Errc> answers; // none: granted
    endpoint->accept({.entity = "orders", .session_id = "a"}, [&](const auto& result) {
        answers.push_back(result ? Errc{} : result.failure().code);
        endpoint.reset();
    });
    endpoint->accept({.entity = "orders", .session_id = "b"}, [&](const auto& result) {
        answers.push_back(result ? Errc{} : result.failure().code);
    });
    loop.run_until_idle();
    CHECK(answers == std::vector{Errc{}, Errc::cancelled});
}

TEST_CASE(
    "endpoint: loops on several threads share a broker, and every message is completed once") {
    test::ManualLoop loop;
    const auto broker = broker_with_queue(loop);
    constexpr int threads = 3;
    constexpr int sessions = 300;
    constexpr int per_session = 5;
    std::atomic<int> completed{0};
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&] {
            test::ManualLoop own;
            in_process::Endpoint endpoint{broker, own};
            std::vector<std::unique_ptr<Slot>> slots;
            for (int i = 0; i < 4; ++i) {
                slots.push_back(std::make_unique<Slot>(endpoint, completed));
                slots.back()->accept();
            }
            for (int i = 0; i < sessions; ++i) {
                send(endpoint, std::to_string(i), per_session);
                own.turn();
            }
            while (completed.load() < threads * sessions * per_session) {
                if (!own.turn()) {
                    std::this_thread::yield();
                }
            }
            own.run_until_idle();
        });
    }
    for (auto& thread : running) {
        thread.join();
    }
    CHECK(completed == threads * sessions * per_session);
}

TEST_CASE("endpoint: messages removed on receipt are delivered once the removal is kept, in order, "
          "many with one commit; a drain waits for them") {
    Held held;
    Remover remover{held.endpoint};
    held.loop.run_until_idle();
    CHECK(remover.log.empty());
    CHECK(held.broker->find("orders")
              .value()
              ->counts({held.loop.now(), held.loop.wall_now()})
              .active == 0);
    held.send(1);
    held.send(1);
    CHECK(held.journal->waiting.size() == 1);
    remover.link->drain();
    held.answer(Failure{.code = Errc::server_busy}); // delivered now they could come twice
    CHECK(remover.log.empty());
    held.answer();
    CHECK(remover.log == "1 2 ");
    held.answer();
    CHECK(remover.log == "1 2 3 4 drained ");
    CHECK(held.journal->waiting.empty());
}

TEST_CASE(
    "endpoint: messages removed before a loss are delivered before it, and none after a close") {
    Held held;
    {
        Remover remover{held.endpoint};
        held.loop.run_until_idle();
        REQUIRE(held.broker->delete_entity("orders", {held.loop.now(), held.loop.wall_now()}).ok());
        held.loop.run_until_idle();
        CHECK(remover.log.empty());
        held.answer();
        CHECK(remover.log == "1 2 entity_not_found ");
    }
    Held closing;
    Remover remover{closing.endpoint};
    remover.closes = true;
    closing.answer();
    CHECK(remover.log == "1 ");
    Remover gone{closing.endpoint};
    closing.send(1);
    gone.link.reset();
    closing.answer();
    CHECK(gone.log.empty());
}

TEST_CASE("endpoint: settlements under way are answered before a loss, which is the last event") {
    Held held;
    Settler settler{held.endpoint};
    held.answer();
    REQUIRE(settler.log == "1 2 ");
    settler.link->settle(*settler.got.front(), {});
    held.loop.run_until_idle();
    held.loop.advance(31s);
    held.broker->advance({held.loop.now(), held.loop.wall_now()});
    held.loop.run_until_idle();
    CHECK(settler.log == "1 2 "); // the settlement is not kept yet
    held.answer();
    CHECK(settler.log == "1 2 settled lock_lost ");
}

TEST_CASE("endpoint: deferred messages removed on receipt are delivered once the removal is kept") {
    Held held;
    const auto queue = held.broker->find("orders").value();
    std::vector<std::int64_t> sequences;
    struct Deferrer final : ports::LinkEvents {
        [[nodiscard]] ports::DeliveryPtr new_delivery() override {
            return std::make_unique<ports::Delivery>();
        }
        void on_delivery(ports::DeliveryPtr delivery) override {
            got.push_back(std::move(delivery));
            link->settle(*got.back(), {.outcome = ports::Outcome::defer});
        }
        void on_settled(ports::Delivery&, const Failure*) override {}
        void on_drained() override {}
        void on_lost(const Failure&) override {}
        ports::SessionLinkPtr link{};
        std::vector<ports::DeliveryPtr> got{};
    } deferrer;
    held.endpoint.accept({.entity = "orders", .session_id = "a", .wait = 10s}, [&](auto result) {
        deferrer.link = std::move(result).value();
        deferrer.link->set_events(deferrer);
        deferrer.link->add_credit(2);
    });
    held.answer();
    REQUIRE(deferrer.got.size() == 2);
    deferrer.link.reset();
    held.answer();
    Remover remover{held.endpoint};
    held.answer();
    std::size_t got = 0;
    remover.link->receive_deferred({1, 2}, {}, [&](auto result) { got = result.value().size(); });
    held.answer(Failure{.code = Errc::server_busy});
    CHECK(got == 0);
    held.answer();
    CHECK(got == 2);
    CHECK(queue->counts({held.loop.now(), held.loop.wall_now()}).deferred == 0);
    CHECK(remover.log.empty());
}

TEST_CASE("endpoint: a request whose deadline has passed is not carried out") {
    test::ManualLoop loop;
    in_process::Endpoint endpoint{broker_with_queue(loop), loop};
    const Deadline passed = Deadline::at(loop.now());
    std::string log;
    const auto note = [&log](const auto& result) {
        log += result ? "ok " : std::string{to_string(result.failure().code)} + " ";
    };
    endpoint.send({.entity = "orders",
                   .messages = {Message::of("never").in_session("a")},
                   .deadline = passed},
                  note);
    endpoint.accept({.entity = "orders", .session_id = "a", .deadline = passed}, note);
    ports::SessionLinkPtr link;
    endpoint.accept({.entity = "orders", .session_id = "b"},
                    [&](auto result) { link = std::move(result).value(); });
    loop.run_until_idle();
    CHECK(log == "timeout timeout ");
    log.clear();
    link->set_state("never", passed, note);
    link->renew_lock(passed, note);
    link->receive_deferred({1}, passed, note);
    loop.run_until_idle();
    CHECK(log == "timeout timeout timeout ");
    std::optional<std::string> state;
    link->get_state({}, [&](const auto& result) { state = result.value(); });
    std::size_t messages = 1;
    endpoint.peek({.entity = "orders"}, [&](const auto& seen) { messages = seen.value().size(); });
    loop.run_until_idle();
    CHECK_FALSE(state);
    CHECK(messages == 0);
}

TEST_CASE(
    "endpoint: an accept ends with a timeout at its deadline, and without a session after its "
    "wait") {
    test::ManualLoop loop;
    const auto broker = broker_with_queue(loop);
    in_process::Endpoint endpoint{broker, loop};
    std::string log;
    const auto note = [&log](const auto& result) {
        log += std::string{to_string(result.failure().code)} + " ";
    };
    endpoint.accept({.entity = "orders", .wait = 10s, .deadline = Deadline::after(1s, loop.now())},
                    note);
    endpoint.accept({.entity = "orders", .wait = 1s, .deadline = Deadline::after(10s, loop.now())},
                    note);
    loop.advance(1s);
    broker->advance({loop.now(), loop.wall_now()});
    loop.run_until_idle();
    CHECK(log == "timeout no_session_available ");
}

namespace {

/// Destroys the link in the first event of a kind.
struct Destroyer final : ports::LinkEvents {
    enum class In { delivery, settled, drained, lost, closed };
    Destroyer(ports::Endpoint& on, In when) : in{when} {
        on.accept({.entity = "orders", .session_id = "a"},
                  [this](auto result) { link = std::move(result).value(); });
    }
    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<ports::Delivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override {
        got.push_back(std::move(delivery));
        happened(In::delivery);
        if (link) {
            link->settle(*got.back(), {});
        }
    }
    void on_settled(ports::Delivery&, const Failure*) override { happened(In::settled); }
    void on_drained() override { happened(In::drained); }
    void on_lost(const Failure&) override { happened(In::lost); }
    void happened(In what) {
        CHECK(link != nullptr); // nothing follows its end
        if (what == in) {
            link.reset();
        }
    }

    const In in;
    ports::SessionLinkPtr link{};
    std::vector<ports::DeliveryPtr> got{};
};

} // namespace

TEST_CASE("endpoint: a link may be destroyed in each of its events, and nothing follows") {
    using In = Destroyer::In;
    for (const In in : {In::delivery, In::settled, In::drained, In::lost, In::closed}) {
        CAPTURE(static_cast<int>(in));
        test::ManualLoop loop;
        const auto broker = broker_with_queue(loop);
        in_process::Endpoint endpoint{broker, loop};
        send(endpoint, "a", 3);
        Destroyer owner{endpoint, in};
        loop.run_until_idle();
        REQUIRE(owner.link);
        owner.link->set_events(owner);
        owner.link->add_credit(10);
        if (in == In::drained) {
            owner.link->drain();
        }
        loop.run_until_idle();
        if (in == In::lost) {
            REQUIRE(broker->delete_entity("orders", {loop.now(), loop.wall_now()}).ok());
        } else if (in == In::closed) {
            owner.link->close([&](const auto&) { owner.happened(In::closed); });
        }
        loop.run_until_idle();
        CHECK_FALSE(owner.link);
        CHECK(owner.got.size() == (in == In::delivery ? 1 : 3));
    }
}
