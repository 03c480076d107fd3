// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <exception>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;

namespace {

/// Settles "settled", and forgets others.
void settle_some(MessageContext& context) {
    if (context.message().text() == "settled") {
        context.complete();
    }
}

} // namespace

TEST_CASE("auto complete: off, a handler that returns without settling its message has failed") {
    ProcessorBench bench{{.auto_complete = false, .failure_policy = FailurePolicy::dead_letter()}};
    SUBCASE("as a function") {
        bench.handlers.start_message = {};
        bench.handlers.message = settle_some;
    }
    SUBCASE("as an operation that finishes within its start") { bench.handle = settle_some; }
    SUBCASE("as an operation that finishes later") {
        bench.handlers.start_message = [&](MessageContext& context, Completion completion) {
            bench.workers.post([&context, completion = std::move(completion)] {
                settle_some(context);
                completion.done();
            });
        };
    }
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"settled", "forgotten"});
    CHECK(link->take_log().starts_with("complete settled, dead-letter forgotten"));
    CHECK(bench.counters().messages_handled == 1);
    CHECK(bench.counters().messages_failed == 1);
    CHECK(bench.errors == "message_handler handler_failed");
    CHECK(bench.last_error.detail.find("without settling the message") != std::string::npos);
}

TEST_CASE("auto complete: off, the failure policy keeps the order and may try again") {
    ProcessorBench bench{{.auto_complete = false,
                          .failure_policy = FailurePolicy::abandon_at_once().after_attempts(
                              2, {.min = 1ms, .max = 1ms})}};
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    bench.advance(1s);
    CHECK(bench.take_handled() == "1 1");
    CHECK(link->take_log() == "drain, release 2, abandon 1"); // R6
}

TEST_CASE("auto complete: off, on_failure is told invalid_state") {
    ProcessorBench bench{{.auto_complete = false}};
    Errc code{};
    bench.handlers.failure = [&](const FailureContext& failure) {
        try {
            std::rethrow_exception(failure.exception);
        } catch (const Error& error) {
            code = error.failure().code;
        }
        return FailurePolicy::dead_letter();
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK(code == Errc::invalid_state);
    CHECK(link->take_log().starts_with("dead-letter 1"));
}

TEST_CASE("auto complete: off, what a handler throws is its failure") {
    ProcessorBench bench{{.auto_complete = false}};
    bench.handle = [](MessageContext&) { throw std::runtime_error{"no"}; };
    bench.start();
    bench.deliver(bench.open(), {"1"});
    CHECK(bench.last_error.detail == "no");
}
