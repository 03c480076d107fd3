// SPDX-License-Identifier: MIT
#include <sessionq/session_handler.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

using namespace sessionq;
using namespace std::chrono_literals;

static_assert(
    std::is_same_v<decltype(coroutine([](SessionContext&) -> asio::awaitable<void> { co_return; })),
                   SessionOpenHandler>);
static_assert(std::is_same_v<decltype(coroutine([](SessionContext&, CloseReason)
                                                    -> asio::awaitable<void> { co_return; })),
                             SessionCloseHandler>);

namespace {

constexpr auto handlers_patience = 30s; // never waited for in full unless something hangs

/// A processor of a queue that has messages of some sessions. Any thread may note what happens.
struct SessionsSetup {
    explicit SessionsSetup(int sessions) {
        broker.create_queue("orders");
        std::vector<Message> messages;
        for (int i = 0; i < sessions; ++i) {
            messages.push_back(Message::of("order").in_session("s" + std::to_string(i)));
        }
        Sender{client, "orders"}.send_all(std::move(messages));
    }

    /// Notes an event of a session.
    void note(const std::string& session, const std::string& event) {
        const std::lock_guard lock{mutex};
        std::string& all = events[session];
        all.append(all.empty() ? "" : ", ").append(event);
    }
    [[nodiscard]] static bool is_ready(const std::future<void>& event) {
        return event.wait_for(handlers_patience) == std::future_status::ready;
    }

    LocalBroker broker{};
    Client client{Client::in_process(broker)};
    std::mutex mutex{};
    std::map<std::string, std::string> events{};
};

/// Fires when it was hit often enough.
class Goal {
public:
    explicit Goal(int hits) : left_{hits} {}
    void hit() {
        if (left_.fetch_sub(1) == 1) {
            reached_.set_value();
        }
    }
    [[nodiscard]] bool is_reached() { return SessionsSetup::is_ready(reached_.get_future()); }

private:
    std::atomic<int> left_;
    std::promise<void> reached_{};
};

} // namespace

TEST_CASE("session handlers: coroutines make requests of their sessions on one worker") {
    constexpr int sessions = 10;
    SessionsSetup t{sessions};
    Goal closed{sessions};
    SessionProcessor orders{
        t.client,
        "orders",
        {.max_concurrent_sessions = sessions, .session_idle_timeout = 0ms, .worker_threads = 1}};
    orders.on_session_open(coroutine([&](SessionContext& session) -> asio::awaitable<void> {
        const auto before = co_await async_state(session);
        t.note(session.session_id(), "open " + before.value_or("new"));
        co_await async_set_state(session, "opened");
    }));
    orders.on_message(coroutine([&](MessageContext& context) -> asio::awaitable<void> {
        const auto state = co_await async_state(context.session());
        t.note(context.session().session_id(), "message " + state.value_or("none"));
    }));
    orders.on_session_close(
        coroutine([&](SessionContext& session, CloseReason reason) -> asio::awaitable<void> {
            const auto state = co_await async_state(session);
            t.note(session.session_id(),
                   "close " + std::string{to_string(reason)} + " " + state.value_or("none"));
            closed.hit();
        }));
    orders.start();
    REQUIRE(closed.is_reached());
    CHECK(orders.stop(handlers_patience).complete);
    CHECK(t.events.size() == sessions);
    for (const auto& [session, events] : t.events) {
        CHECK(events == "open new, message opened, close idle opened");
    }
}

TEST_CASE("session handlers: all that another thread ends wait at once without a worker") {
    constexpr int sessions = 20;
    SessionsSetup t{sessions};
    Goal all_open{sessions};
    Goal all_close{sessions};
    std::mutex mutex;
    std::vector<Completion> waiting;
    const auto keep = [&](Completion completion) {
        const std::lock_guard lock{mutex};
        waiting.push_back(std::move(completion));
    };
    const auto end_all = [&] {
        std::vector<Completion> all;
        {
            const std::lock_guard lock{mutex};
            all.swap(waiting);
        }
        for (const Completion& each : all) {
            each.done();
        }
    };
    SessionProcessor orders{
        t.client,
        "orders",
        {.max_concurrent_sessions = sessions, .session_idle_timeout = 0ms, .worker_threads = 1}};
    orders.on_session_open(
        SessionOpenHandler::started_by([&](SessionContext& session, Completion completion) {
            t.note(session.session_id(), "open");
            keep(std::move(completion));
            all_open.hit();
        }));
    orders.on_message([&](MessageContext& context) {
        t.note(context.session().session_id(), std::string{context.message().text()});
    });
    orders.on_session_close(SessionCloseHandler::started_by(
        [&](SessionContext& session, CloseReason reason, Completion completion) {
            t.note(session.session_id(), std::string{to_string(reason)});
            keep(std::move(completion));
            all_close.hit();
        }));
    orders.start();
    REQUIRE(all_open.is_reached()); // all sessions at once on one worker
    std::jthread{end_all}.join();
    REQUIRE(all_close.is_reached());
    std::jthread{end_all}.join();
    CHECK(orders.stop(handlers_patience).complete);
    CHECK(t.events.size() == sessions);
    for (const auto& [session, events] : t.events) {
        CHECK(events == "open, order, idle");
    }
}

TEST_CASE("session handlers: a completion that another thread drops parks the session") {
    SessionsSetup t{1};
    Goal handled{1};
    std::atomic<int> opens{0};
    std::promise<ErrorContext> told;
    std::jthread other;
    SessionProcessor orders{t.client,
                            "orders",
                            {.error_backoff = {.min = std::chrono::milliseconds{1},
                                               .max = std::chrono::milliseconds{1}}}};
    orders.on_error([&](const ErrorContext& error) { told.set_value(error); });
    orders.on_session_open(
        SessionOpenHandler::started_by([&](SessionContext&, Completion completion) {
            if (opens++ == 0) {
                other = std::jthread{[dropped = std::move(completion)] {}};
            } else {
                completion.done();
            }
        }));
    orders.on_message([&](MessageContext&) { handled.hit(); });
    orders.start();
    REQUIRE(handled.is_reached());
    auto error = told.get_future();
    REQUIRE(error.wait_for(handlers_patience) == std::future_status::ready);
    const ErrorContext context = error.get();
    CHECK(context.source == ErrorSource::session_open);
    CHECK(context.failure.detail.find("destroyed and never used") != std::string::npos);
    CHECK(orders.describe().health.reasons.at(0).cause == HealthCause::handler_misused);
    CHECK(orders.stop(handlers_patience).complete);
    CHECK(opens == 2);
}

TEST_CASE("session handlers: of two threads that use a completion, one ends the handler") {
    SessionsSetup t{1};
    Goal handled{1};
    SessionProcessor orders{t.client, "orders"};
    orders.on_session_open(
        SessionOpenHandler::started_by([&](SessionContext&, const Completion& completion) {
            const std::jthread first{[&] { completion.done(); }};
            const std::jthread second{[&] { completion.done(); }};
        }));
    orders.on_message([&](MessageContext&) { handled.hit(); });
    orders.start();
    REQUIRE(handled.is_reached());
    CHECK(orders.describe().health.reasons.at(0).cause == HealthCause::handler_misused);
    CHECK(orders.stop(handlers_patience).complete);
}

TEST_CASE("session handlers: R18: stop cancels a coroutine that waits on Asio") {
    SessionsSetup t{1};
    Goal waits{1};
    std::promise<void> cancelled;
    SessionProcessor orders{t.client, "orders", {.session_idle_timeout = 0ms}};
    const auto wait = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::hours{1}};
        waits.hit();
        try {
            co_await timer.async_wait(asio::use_awaitable);
        } catch (...) {
            cancelled.set_value();
            throw;
        }
    };
    orders.on_message([](MessageContext&) {});
    SUBCASE("when a session opens") {
        orders.on_session_open(
            coroutine([&](SessionContext&) -> asio::awaitable<void> { co_await wait(); }));
    }
    SUBCASE("when a session closes") {
        orders.on_session_close(coroutine(
            [&](SessionContext&, CloseReason) -> asio::awaitable<void> { co_await wait(); }));
    }
    orders.start();
    REQUIRE(waits.is_reached());
    const StopReport report = orders.stop({.timeout = handlers_patience, .cancel_after = 0});
    CHECK(report.complete);
    CHECK(SessionsSetup::is_ready(cancelled.get_future()));
}

TEST_CASE("session handlers: a close handler that outlasts the stop is left, and may end later") {
    SessionsSetup t{1};
    Goal closes{1};
    std::promise<Completion> held;
    SessionProcessor orders{t.client, "orders", {.session_idle_timeout = 0ms}};
    orders.on_message([](MessageContext&) {});
    orders.on_session_close(
        SessionCloseHandler::started_by([&](SessionContext&, CloseReason, Completion completion) {
            held.set_value(std::move(completion));
            closes.hit();
        }));
    orders.start();
    REQUIRE(closes.is_reached());
    const StopReport report = orders.stop(10ms);
    CHECK_FALSE(report.complete);
    CHECK(report.left == 1);
    held.get_future().get().done();
}

TEST_CASE("session handlers: all functions of a processor may be such that cannot be copied") {
    SessionsSetup t{1};
    Goal closed{1};
    Goal told{1};
    const auto owner = [] { return std::make_unique<std::string>("owned"); };
    SessionProcessor orders{t.client, "orders", {.session_idle_timeout = 0ms}};
    orders.on_session_open([&, text = owner()](SessionContext&) { t.note("open", *text); });
    orders.on_message([text = owner()](MessageContext&) { throw std::runtime_error{*text}; });
    orders.on_failure([&, text = owner()](const FailureContext&) {
        t.note("failure", *text);
        return FailurePolicy::dead_letter();
    });
    orders.on_error([&, text = owner()](const ErrorContext&) {
        t.note("error", *text);
        told.hit();
    });
    orders.on_health_changed([text = owner()](const Health&) {});
    orders.on_session_close([&, text = owner()](SessionContext&, CloseReason) {
        t.note("close", *text);
        closed.hit();
    });
    orders.start();
    REQUIRE(closed.is_reached());
    REQUIRE(told.is_reached());
    CHECK(orders.stop(handlers_patience).complete);
    CHECK(t.events.at("open") == "owned");
    CHECK(t.events.at("failure") == "owned");
    CHECK(t.events.at("error") == "owned");
    CHECK(t.events.at("close") == "owned");
}

TEST_CASE("session handlers: a coroutine may be a function that cannot be copied") {
    SessionsSetup t{1};
    Goal opened{1};
    SessionProcessor orders{t.client, "orders"};
    orders.on_session_open(coroutine([&, text = std::make_unique<std::string>("owned")](
                                         SessionContext& session) -> asio::awaitable<void> {
        co_await async_set_state(session, *text);
        t.note("open", *text);
        opened.hit();
    }));
    orders.on_message([](MessageContext&) {});
    orders.start();
    REQUIRE(opened.is_reached());
    CHECK(orders.stop(handlers_patience).complete);
    CHECK(t.events.at("open") == "owned");
}

TEST_CASE("session handlers: an empty handler removes the one that was set") {
    SessionsSetup t{1};
    Goal handled{1};
    SessionProcessor orders{t.client, "orders"};
    orders.on_session_open([&](SessionContext&) { t.note("open", "called"); });
    orders.on_session_close([&](SessionContext&, CloseReason) { t.note("close", "called"); });
    orders.on_session_open({});
    orders.on_session_close({});
    orders.on_message([&](MessageContext&) { handled.hit(); });
    orders.start();
    REQUIRE(handled.is_reached());
    CHECK(orders.stop(handlers_patience).complete);
    CHECK(t.events.empty());
}
