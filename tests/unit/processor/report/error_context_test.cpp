// SPDX-License-Identifier: MIT
#include <sessionq/processor_report.hpp>

#include <doctest/doctest.h>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

/// A bench whose handler throws, and what on_error was told.
struct FailingBench : ProcessorBench {
    explicit FailingBench(SessionProcessorOptions options = {})
        : ProcessorBench{std::move(options)} {
        handle = [](MessageContext&) { throw std::runtime_error{"boom"}; };
        handlers.error = [this](const ErrorContext& error) { told.push_back(error); };
    }
    MessageFate fate_of_one() {
        start();
        deliver(open("ada"), {"1"});
        REQUIRE_FALSE(told.empty());
        return told.front().fate;
    }

    std::vector<ErrorContext> told{};
};

} // namespace

TEST_CASE("error context: which message failed, and what becomes of it") {
    FailingBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    CHECK(bench.fate_of_one() == MessageFate::dead_lettered);
    const ErrorContext& error = bench.told.front();
    CHECK(error.source == ErrorSource::message_handler);
    CHECK(error.sequence_number == 1);
    CHECK(error.attempt == 1);
    CHECK_FALSE(is_handled_again(error.fate));
    CHECK(error.to_string() ==
          "'orders', session 'ada', message (sequence 1, attempt 1): the handler failed: boom; "
          "it is dead-lettered");
    ErrorContext wordless = error;
    wordless.failure.detail.clear();
    CHECK(wordless.to_string() ==
          "'orders', session 'ada', message (sequence 1, attempt 1): the handler failed; it is "
          "dead-lettered");
}

TEST_CASE("error context: the fate follows the policy") {
    struct Row {
        FailurePolicy policy;
        MessageFate fate;
    };
    FailurePolicy retry = FailurePolicy::abandon();
    retry.max_attempts = 2;
    for (const Row& row : {Row{retry, MessageFate::tried_again},
                           Row{FailurePolicy::abandon(), MessageFate::abandoned},
                           Row{FailurePolicy::park_session(1min), MessageFate::parked}}) {
        FailingBench bench{{.failure_policy = row.policy}};
        CHECK(to_string(bench.fate_of_one()) == to_string(row.fate));
        CHECK(is_handled_again(row.fate));
    }
}

TEST_CASE("error context: a message that its handler settled before it threw stays settled") {
    FailingBench bench;
    bench.handle = [](MessageContext& context) {
        context.complete();
        throw std::runtime_error{"boom"};
    };
    CHECK(bench.fate_of_one() == MessageFate::settled);
}

TEST_CASE("error context: a message that the broker removed is gone") {
    FailingBench bench{{.receive_and_delete = true}};
    CHECK(bench.fate_of_one() == MessageFate::removed);
}

TEST_CASE("error context: an error that concerns no message says so") {
    FailingBench bench;
    bench.start();
    bench.endpoint.refuse(Errc::entity_not_found);
    bench.run();
    REQUIRE(bench.told.size() == 1);
    CHECK(bench.told.front().fate == MessageFate::none);
    CHECK(bench.told.front().sequence_number == 0);
    CHECK(bench.told.front().to_string().find("'orders': no session was accepted: ") == 0);
}
