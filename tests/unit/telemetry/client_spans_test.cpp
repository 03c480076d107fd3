// SPDX-License-Identifier: MIT
// The spans of a client in OpenTelemetry's SDK, beside those of the application.
#include <latch>
#include <memory>
#include <string>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <doctest/doctest.h>
#include <opentelemetry/trace/scope.h>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

#include "unit/telemetry/support/in_memory_sdk.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

TEST_CASE("OpenTelemetry: what a receiver does belongs to the current span") {
    Sdk sdk;
    LocalBroker broker;
    broker.create_queue("orders");
    {
        const auto client = Client::in_process(
            broker, {.tracer = std::make_shared<OpenTelemetryTracer>(sdk.tracer)});
        const auto request = sdk.tracer->StartSpan("request");
        const trace_api::Scope scope{request};
        Sender{client, "orders"}.send(Message::of("order").in_session("ada"));
        SessionReceiver receiver = SessionReceiver::accept(client, "orders", "ada");
        receiver.receive(1, 5s).at(0).complete();
        request->End();
    }
    const Ended spans = sdk.take();
    const std::string request = span_id(context_of(named(spans, "request")));
    int count = 0;
    for (const auto& each : spans) {
        const std::string name{each->GetName()};
        if (name != "request") {
            CAPTURE(name);
            CHECK(parent_id(*each) == request);
            ++count;
        }
    }
    CHECK(count == 4); // send, two of receive, settle
}

TEST_CASE("OpenTelemetry: what a coroutine handler starts belongs to its span") {
    Sdk sdk;
    LocalBroker broker;
    broker.create_queue("orders");
    {
        const auto client = Client::in_process(
            broker, {.tracer = std::make_shared<OpenTelemetryTracer>(sdk.tracer)});
        Sender{client, "orders"}.send(Message::of("order").in_session("ada"));
        SessionProcessor orders{client, "orders"};
        std::latch handled{1};
        orders.on_message(coroutine([&](MessageContext&) -> asio::awaitable<void> {
            sdk.tracer->StartSpan("first")->End();
            co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
            sdk.tracer->StartSpan("second")->End();
            handled.count_down();
        }));
        orders.start();
        handled.wait();
        orders.stop();
    }
    const Ended spans = sdk.take();
    const std::string process = span_id(context_of(named(spans, "process orders")));
    CHECK(parent_id(named(spans, "first")) == process);
    CHECK(parent_id(named(spans, "second")) == process);
}

TEST_CASE("OpenTelemetry: a trace goes through a queue and the handler's own spans") {
    Sdk sdk;
    LocalBroker broker;
    broker.create_queue("orders");
    broker.create_queue("bills");
    {
        const auto client = Client::in_process(
            broker, {.tracer = std::make_shared<OpenTelemetryTracer>(sdk.tracer)});
        const Sender bills{client, "bills"};
        SessionProcessor orders{client, "orders"};
        std::latch handled{1};
        orders.on_message([&](MessageContext&) {
            const auto own = sdk.tracer->StartSpan("own");
            {
                const trace_api::Scope scope{own};
                bills.send(Message::of("bill").in_session("ada"));
            }
            own->End();
            handled.count_down();
        });
        orders.start();
        const auto request = sdk.tracer->StartSpan("request");
        {
            const trace_api::Scope scope{request};
            Sender{client, "orders"}.send(Message::of("order").in_session("ada"));
        }
        request->End();
        handled.wait();
        orders.stop();
    }
    const Ended spans = sdk.take();
    const auto is_child = [&](const std::string& child, const std::string& parent) {
        CHECK(trace_id(context_of(named(spans, child))) ==
              trace_id(context_of(named(spans, parent))));
        CHECK(parent_id(named(spans, child)) == span_id(context_of(named(spans, parent))));
    };
    is_child("send orders", "request");
    is_child("process orders", "send orders");
    is_child("own", "process orders");
    is_child("send bills", "own");
    is_child("settle orders", "process orders");
    CHECK(text_of(named(spans, "process orders"), "messaging.system") == "sessionq");
    CHECK(parent_id(named(spans, "receive orders")) == no_parent);
}
