// SPDX-License-Identifier: MIT
// Handlers of batches by the public functions. unit/processor/message/batch_test.cpp says what they
// do.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_processor.hpp>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;
using Batch = std::span<MessageContext>;

namespace {

constexpr auto patience = 30s; // never waited for in full unless something hangs

/// A queue with messages "0" to `each` - 1 in every session, and what handlers noted of them.
struct Setup {
    Setup(int sessions, int each) : left{sessions * each} {
        broker.create_queue("orders");
        Sender sender{client, "orders"};
        for (int session = 0; session < sessions; ++session) {
            std::vector<Message> messages;
            for (int i = 0; i < each; ++i) {
                messages.push_back(
                    Message::of(std::to_string(i)).in_session("s" + std::to_string(session)));
            }
            sender.send_all(std::move(messages));
        }
    }
    void note(Batch batch) {
        const std::lock_guard lock{mutex};
        for (const MessageContext& each : batch) {
            in_order =
                in_order && each.message().session_id() == batch.front().message().session_id();
            int& next = handled[std::string{each.message().session_id()}];
            in_order = in_order && each.message().text() == std::to_string(next++);
        }
        largest = std::max(largest, batch.size());
        left -= static_cast<int>(batch.size());
        if (left == 0) {
            done.set_value();
        }
    }
    bool wait() { return done.get_future().wait_for(patience) == std::future_status::ready; }

    LocalBroker broker{};
    Client client{Client::in_process(broker)};
    std::mutex mutex{};
    std::map<std::string, int> handled{};
    int left;
    bool in_order{true};
    std::size_t largest{0};
    std::promise<void> done{};
};

} // namespace

TEST_CASE("batch handler: several workers handle batches of many sessions, each in order") {
    Setup t{20, 250};
    SessionProcessor orders{t.client, "orders", {.worker_threads = 4}};
    BatchHandler handler{[&](Batch batch) { t.note(batch); }};
    SUBCASE("a function") {}
    SUBCASE("an operation that another thread ends") {
        handler = BatchHandler::started_by([&](Batch batch, Completion completion) {
            std::thread{[&, batch, completion = std::move(completion)] {
                t.note(batch);
                completion.done();
            }}.detach();
        });
    }
    SUBCASE("a coroutine") {
        handler = coroutine([&](Batch batch) -> asio::awaitable<void> {
            co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
            t.note(batch);
        });
    }
    orders.on_messages(std::move(handler), {.max_messages = 50});
    orders.start();
    CHECK(t.wait());
    const StopReport report = orders.stop(patience);
    CHECK(report.complete);
    CHECK(t.in_order);
    CHECK(t.largest <= 50);
    CHECK(t.largest > 1);
    CHECK(orders.counters().messages_completed == 5'000);
    CHECK(t.broker.counts("orders").active == 0);
}

TEST_CASE("batch handler: settling by itself, early, and failures at any message") {
    Setup t{8, 200};
    SessionProcessor orders{
        t.client,
        "orders",
        {.worker_threads = 4, .failure_policy = FailurePolicy::abandon_at_once()}};
    std::atomic<int> turn{0};
    orders.on_messages([&](Batch batch) {
        const std::size_t at = static_cast<std::size_t>(turn++) % 7;
        if (at >= batch.size() || batch[at].message().delivery_count() != 0) {
            t.note(batch);
            return;
        }
        t.note(batch.first(at));
        for (MessageContext& each : batch.first(at)) {
            each.complete();
        }
        throw std::runtime_error{"scripted"};
    });
    orders.start();
    CHECK(t.wait());
    orders.stop(patience);
    CHECK(t.in_order);
    CHECK(t.broker.counts("orders").active == 0);
}

TEST_CASE("batch handler: the later of the two handlers counts, and options are checked at once") {
    Setup t{1, 10};
    SessionProcessor orders{t.client, "orders"};
    CHECK(code_of([&] { orders.on_messages([](Batch) {}, {.max_messages = 0}); }) ==
          Errc::invalid_option);
    CHECK(code_of([&] { orders.start(); }) == Errc::invalid_state);
    orders.on_messages([](Batch) { FAIL_CHECK("was replaced"); });
    orders.on_message([&](MessageContext& context) { t.note({&context, 1}); });
    orders.start();
    CHECK(code_of([&] { orders.on_messages([](Batch) {}); }) == Errc::invalid_state);
    CHECK(t.wait());
    CHECK(t.largest == 1);
}
