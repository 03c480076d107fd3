// SPDX-License-Identifier: MIT
#include <sessionq/processor.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

#include <sessionq/local_broker.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_receiver.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

struct ProcessorFixture {
    explicit ProcessorFixture(QueueOptions options = {.requires_session = false}) {
        broker.create_queue("plain", options);
        broker.create_queue("orders");
    }

    void send(int count) {
        std::vector<Message> messages;
        for (int i = 0; i < count; ++i) {
            messages.push_back({.body = std::to_string(i)});
        }
        Sender{client, "plain"}.send_all(std::move(messages));
    }

    LocalBroker broker;
    Client client{Client::in_process(broker)};
};

} // namespace

TEST_CASE("processor: handles every message once, several at a time") {
    ProcessorFixture f;
    f.send(200);
    Processor processor{f.client, "plain", {.max_concurrent_calls = 4, .worker_threads = 4}};
    std::mutex mutex;
    std::multiset<std::string> seen;
    std::latch together{4};
    std::latch all{200};
    std::atomic<int> entered{0};
    processor.on_message([&](MessageContext& context) {
        if (++entered <= 4) {
            together.arrive_and_wait(); // passes only if four run at once
        }
        const std::lock_guard lock{mutex};
        seen.emplace(context.message().text());
        all.count_down();
    });
    processor.start();
    all.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(seen.size() == 200);
    CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 200);
    CHECK(f.broker.counts("plain").active == 0);
}

TEST_CASE("processor: consumes the dead letters of an entity with sessions") {
    ProcessorFixture f;
    Sender{f.client, "orders"}.send(Message::of("1").in_session("ada"));
    SessionReceiver::accept(f.client, "orders", "ada").receive_one()->dead_letter("why");
    Processor processor{f.client, "orders", {.sub_queue = SubQueue::dead_letter}};
    std::latch done{1};
    std::string reason;
    processor.on_message([&](MessageContext& context) {
        reason = context.message().facts().dead_letter->reason;
        CHECK(context.session().session_id().empty());
        CHECK(context.message().content().session_id == "ada");
        done.count_down();
    });
    processor.start();
    done.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(reason == "why");
    CHECK(f.broker.counts("orders").dead_lettered == 0);
}

TEST_CASE("processor: a message whose handler throws is left to the failure policy") {
    ProcessorFixture f{{.requires_session = false, .max_delivery_count = 100}};
    f.send(1);
    Processor processor{f.client,
                        "plain",
                        {.max_concurrent_calls = 1,
                         .failure_policy = FailurePolicy::dead_letter().after_attempts(
                             3, {.min = 1ms, .max = 1ms})}};
    std::latch tried{3};
    std::atomic<std::uint32_t> last{0};
    processor.on_message([&](MessageContext& context) {
        last = context.attempt();
        tried.count_down();
        throw std::runtime_error{"no"};
    });
    processor.start();
    tried.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(last == 3);
    CHECK(f.broker.counts("plain").dead_lettered == 1);
}

TEST_CASE("processor: on_failure chooses the policy of a failure, and one that needs a session is "
          "refused") {
    ProcessorFixture f{{.requires_session = false, .max_delivery_count = 100}};
    Processor processor{
        f.client,
        "plain",
        {.max_concurrent_calls = 1, .failure_policy = FailurePolicy::dead_letter()}};
    std::latch done{2};
    std::string refused;
    std::string of_session{"unset"};
    processor.on_message([&](MessageContext& context) {
        if (context.message().delivery_count() != 0) {
            done.count_down();
            return;
        }
        throw std::runtime_error{"no"};
    });
    processor.on_failure([&](const FailureContext& failure) {
        of_session = failure.session_id;
        return failure.message.text() == "park" ? FailurePolicy::park_session(1s)
                                                : FailurePolicy::abandon_at_once();
    });
    processor.on_error([&](const ErrorContext& context) {
        if (context.source == ErrorSource::failure_policy) {
            refused = context.failure.detail;
            done.count_down();
        }
    });
    Sender sender{f.client, "plain"};
    sender.send({.body = "park"});
    sender.send({.body = "again"});
    processor.start();
    done.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(refused == "on_failure: must abandon or dead-letter: there is no session");
    CHECK(of_session.empty());
    CHECK(f.broker.counts("plain").dead_lettered == 1); // as configured
    CHECK(processor.counters().messages_completed == 1);
}

TEST_CASE("processor: without auto_complete a message that its handler did not settle has failed") {
    ProcessorFixture f;
    f.send(2);
    Processor processor{f.client,
                        "plain",
                        {.max_concurrent_calls = 1,
                         .auto_complete = false,
                         .failure_policy = FailurePolicy::dead_letter()}};
    std::latch both{2};
    processor.on_message([&](MessageContext& context) {
        if (context.message().text() == "0") {
            context.complete();
        }
        both.count_down();
    });
    processor.start();
    both.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(f.broker.counts("plain").active == 0);
    CHECK(f.broker.counts("plain").dead_lettered == 1);
}

TEST_CASE("processor: one call at a time goes on after a failure and a settlement by hand") {
    ProcessorFixture f{{.requires_session = false, .max_delivery_count = 100}};
    f.send(3);
    Processor processor{f.client, "plain", {.max_concurrent_calls = 1}};
    std::latch done{4};
    std::atomic<int> calls{0};
    processor.on_message([&](MessageContext& context) {
        const int call = ++calls;
        if (call <= 4) {
            done.count_down();
        }
        if (call == 1) {
            throw std::runtime_error{"once"};
        }
        if (call == 2) {
            context.dead_letter("by hand");
        }
    });
    processor.start();
    done.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(calls == 4);
    CHECK(f.broker.counts("plain").active == 0);
    CHECK(f.broker.counts("plain").dead_lettered == 1);
}

TEST_CASE("processor: stop returns what no handler started, uncounted") {
    ProcessorFixture f;
    f.send(10);
    Processor processor{f.client, "plain", {.max_concurrent_calls = 1}};
    std::latch started{1};
    std::latch may_end{1};
    processor.on_message([&](MessageContext&) {
        if (!started.try_wait()) {
            started.count_down();
        }
        may_end.wait();
    });
    processor.start();
    started.wait();
    std::thread ending{[&] {
        while (processor.describe().state != ProcessorDescription::State::stopping) {
            std::this_thread::yield();
        }
        may_end.count_down();
    }};
    const StopReport report = processor.stop(10s);
    ending.join();
    CHECK(report.complete);
    const std::size_t left = f.broker.counts("plain").active;
    CHECK(left >= 1);
    Receiver receiver = Receiver::open(f.client, "plain");
    auto messages = receiver.receive(10, 0s);
    REQUIRE(messages.size() == left);
    for (const LockedMessage& message : messages) {
        CHECK(message.message().delivery_count() == 0);
    }
}

TEST_CASE("processor: R15: a stop tells running handlers to end, by their stop tokens") {
    ProcessorFixture f;
    f.send(2);
    Processor processor{f.client, "plain", {.max_concurrent_calls = 2, .worker_threads = 2}};
    std::latch started{2};
    processor.on_message([&](MessageContext& context) {
        std::latch told{1};
        const std::stop_callback tell{context.stop_token(), [&told] { told.count_down(); }};
        started.count_down();
        told.wait();
    });
    processor.start();
    started.wait();
    const StopReport report = processor.stop({.timeout = 30s, .cancel_after = 0.0});
    CHECK(report.complete);
    CHECK(report.cancelled == 2);
    CHECK(report.left == 0);
    CHECK(processor.counters().messages_completed == 2);
}

TEST_CASE("processor: a lock is renewed while its handler runs") {
    ProcessorFixture f{{.requires_session = false, .lock_duration = 200ms}};
    f.send(1);
    Processor processor{f.client, "plain"};
    std::latch done{1};
    std::atomic<int> calls{0};
    processor.on_message([&](MessageContext& context) {
        ++calls;
        const Deadline first = OperationContext::current().lock_expires();
        CHECK_FALSE(first.is_never());
        // The lock is renewed when its end has moved by more than its length.
        while (OperationContext::current().lock_expires() < Deadline::after(400ms, first.time())) {
            std::this_thread::yield();
        }
        CHECK_FALSE(context.stop_token().stop_requested());
        done.count_down();
    });
    processor.start();
    done.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(calls == 1);
    CHECK(f.broker.counts("plain").active == 0);
}

TEST_CASE(
    "processor: R13: a lock that is not renewed any more fires the stop token, and its message "
    "comes again") {
    ProcessorFixture f{{.requires_session = false, .lock_duration = 200ms}};
    f.send(1);
    Processor processor{f.client,
                        "plain",
                        {.max_concurrent_calls = 2, .worker_threads = 2, .max_lock_renewal = 1ms}};
    std::latch done{2};
    std::latch told{1};
    std::atomic<int> calls{0};
    std::optional<Errc> too_late;
    std::uint32_t counted = 0;
    processor.on_message([&](MessageContext& context) {
        if (++calls == 1) {
            while (!context.stop_token().stop_requested() || calls < 2) {
                std::this_thread::yield();
            }
            told.wait(); // the token fires earlier; a settlement could still be on its way then
            too_late = code_of([&] { context.complete(); });
        } else {
            counted = context.message().delivery_count();
        }
        done.count_down();
    });
    processor.on_error([&](const ErrorContext& error) {
        if (error.source == ErrorSource::lock_renewal && !told.try_wait()) {
            told.count_down();
        }
    });
    processor.start();
    done.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(too_late == Errc::lock_lost);
    CHECK(counted == 1);
    CHECK(f.broker.counts("plain").active == 0);
}

TEST_CASE("processor: an entity with sessions is told as an error") {
    ProcessorFixture f;
    Processor processor{f.client, "orders"};
    std::latch told{1};
    std::string detail;
    processor.on_message([](MessageContext&) {});
    processor.on_error([&](const ErrorContext& error) {
        if (!told.try_wait()) {
            detail = error.failure.detail;
            told.count_down();
        }
    });
    processor.start();
    told.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(detail == "'orders' requires sessions; use a SessionReceiver");
}

TEST_CASE("processor: bad options are named, and limits are changed while it runs") {
    ProcessorFixture f;
    const auto make = [&](ProcessorOptions options) {
        return code_of([&] { const Processor made{f.client, "plain", options}; });
    };
    CHECK(make({.max_concurrent_calls = 0}) == Errc::invalid_option);
    CHECK(make({.max_concurrent_calls = 10'001}) == Errc::invalid_option);
    CHECK(make({.max_lock_renewal = -1s}) == Errc::invalid_option);
    CHECK(make({.receive_and_delete = true, .auto_complete = false}) == Errc::invalid_option);
    CHECK(make({.failure_policy = FailurePolicy::park_session(1s)}) == Errc::invalid_option);
    CHECK(make({.failure_policy = FailurePolicy::dead_letter_session()}) == Errc::invalid_option);
    CHECK(make({.sub_queue = SubQueue::transfer_dead_letter}) == Errc::not_supported);
    Processor processor{f.client, "plain", {.max_concurrent_calls = 1, .worker_threads = 4}};
    CHECK(code_of([&] { processor.update_limits({.max_concurrent_calls = 2}); }) ==
          Errc::invalid_state);
    CHECK(code_of([&] { processor.update_limits({.prefetch = 2}); }) == Errc::invalid_state);
    std::latch together{3};
    std::latch first{1};
    processor.on_message([&](MessageContext&) {
        if (!first.try_wait()) {
            first.count_down();
        }
        together.arrive_and_wait();
    });
    processor.start();
    f.send(3);
    first.wait();
    processor.update_limits({.max_concurrent_calls = 3});
    together.wait();
    CHECK(processor.stop(10s).complete);
    CHECK(processor.counters().messages_completed == 3);
}

TEST_CASE("processor: the prefetch changes while it runs, and leaves the number of handlers") {
    ProcessorFixture f;
    f.send(3);
    Processor processor{f.client, "plain", {.max_concurrent_calls = 3, .worker_threads = 3}};
    std::latch together{3};
    std::latch may_end{1};
    processor.on_message([&](MessageContext&) {
        together.count_down();
        may_end.wait();
    });
    processor.start();
    together.wait();
    const auto window = [&] { return processor.describe().slots.at(0).window; };
    CHECK(window() == 32);
    processor.update_limits({.prefetch = 50});
    CHECK(window() == 50);
    CHECK(code_of([&] { processor.update_limits({.prefetch = 10'001}); }) == Errc::invalid_option);
    processor.update_limits({.max_concurrent_calls = 2});
    CHECK(window() == 50);
    processor.update_limits({.prefetch = 0});
    CHECK(window() == 32);
    processor.update_limits({.max_concurrent_calls = 40});
    CHECK(window() == 80);
    may_end.count_down();
    CHECK(processor.stop(10s).complete);
    CHECK(code_of([&] { processor.update_limits({.prefetch = 1}); }) == Errc::invalid_state);
}
