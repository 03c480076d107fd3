// SPDX-License-Identifier: MIT
// Handlers that say that they have failed, instead of throwing (`MessageContext::fail`).
#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;

namespace {

Failure no_stock() { return {.code = Errc::quota_exceeded, .detail = "no stock"}; }

const std::string no_stock_text = no_stock().to_string();

/// How a handler is called and ends.
enum class Form { function, at_once, later };

void use_form(ProcessorBench& bench, Form form, std::function<void(MessageContext&)> handle) {
    bench.handlers.start_message = nullptr;
    switch (form) {
    case Form::function: bench.handlers.message = std::move(handle); break;
    case Form::at_once:
        bench.handlers.start_message = [handle = std::move(handle)](MessageContext& context,
                                                                    const Completion& completion) {
            handle(context);
            completion.done();
        };
        break;
    case Form::later:
        bench.handlers.start_message = [&bench, handle = std::move(handle)](MessageContext& context,
                                                                            Completion completion) {
            bench.workers.post([handle, &context, completion = std::move(completion)] {
                handle(context);
                completion.done();
            });
        };
        break;
    }
}

} // namespace

TEST_CASE("fail: counts as if the handler had thrown an Error") {
    Form form = Form::function;
    SUBCASE("a function") {}
    SUBCASE("an operation that ends within its start") { form = Form::at_once; }
    SUBCASE("an operation that ends later") { form = Form::later; }
    ProcessorBench bench{{.failure_policy = FailurePolicy::abandon_at_once()}};
    use_form(bench, form, [](MessageContext& context) {
        context.fail(no_stock());
        context.fail({.code = Errc::timeout}); // the first counts
        CHECK_FALSE(context.settled());
    });
    Failure thrown;
    Failure as_value;
    bench.handlers.failure = [&](const FailureContext& failure) {
        try {
            std::rethrow_exception(failure.exception);
        } catch (const Error& error) {
            thrown = error.failure();
        }
        as_value = failure.failure;
        return FailurePolicy::dead_letter();
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK(thrown.code == Errc::quota_exceeded);
    CHECK(thrown.detail == "no stock");
    CHECK(as_value.code == Errc::quota_exceeded);
    CHECK(as_value.detail == "no stock");
    CHECK(link->take_log() == "dead-letter 1 (HandlerFailed)");
    CHECK(bench.errors == "message_handler handler_failed");
    CHECK(bench.last_error.detail == no_stock_text);
    CHECK(bench.counters().messages_failed == 1);
    CHECK(bench.counters().messages_handled == 0);
}

TEST_CASE("fail: the policy tries again in place, and the next try begins without a failure") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter().after_attempts(
                              3, {.min = 1ms, .max = 1ms})}};
    int tries = 0;
    use_form(bench, Form::function, [&](MessageContext& context) {
        if (++tries < 3) {
            context.fail(no_stock());
        }
    });
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.advance(1s);
    CHECK(tries == 3);
    CHECK(link->take_log() == "complete 1");
    CHECK(bench.errors == "message_handler handler_failed, message_handler handler_failed");
}

TEST_CASE("fail: a settlement stands, before and after it") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    bool asked = false;
    bench.handlers.failure = [&](const FailureContext& failure) {
        asked = true;
        return failure.configured;
    };
    SUBCASE("before") {
        use_form(bench, Form::function, [](MessageContext& context) {
            context.complete();
            context.fail(no_stock());
        });
    }
    SUBCASE("after") {
        use_form(bench, Form::function, [](MessageContext& context) {
            context.fail(no_stock());
            context.complete();
        });
    }
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK(link->take_log() == "complete 1");
    CHECK(bench.last_error.detail == no_stock_text);
    CHECK_FALSE(asked);
}

TEST_CASE("fail: an exception counts more") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    use_form(bench, Form::function, [](MessageContext& context) {
        context.fail(no_stock());
        throw std::runtime_error{"thrown"};
    });
    Failure as_value;
    bench.handlers.failure = [&](const FailureContext& failure) {
        as_value = failure.failure;
        return failure.configured;
    };
    bench.start();
    bench.deliver(bench.open(), {"1"});
    CHECK(bench.last_error.detail == "thrown");
    CHECK(as_value.code == Errc::handler_failed);
    CHECK(as_value.detail == "thrown");
}

TEST_CASE("fail: with auto complete off it is the failure, not that the message is unsettled") {
    ProcessorBench bench{{.auto_complete = false, .failure_policy = FailurePolicy::dead_letter()}};
    use_form(bench, Form::function, [](MessageContext& context) { context.fail(no_stock()); });
    bench.start();
    bench.deliver(bench.open(), {"1"});
    CHECK(bench.last_error.detail == no_stock_text);
}

namespace {

using Messages = std::span<MessageContext>;

/// A session with messages "1" to "4" that come together, and a handler of batches.
struct FailBatch : ProcessorBench {
    explicit FailBatch(std::function<void(Messages)> handle_once, bool settles_all = false)
        : ProcessorBench{
              {.auto_complete = !settles_all, .failure_policy = FailurePolicy::dead_letter()}} {
        handlers.start_message = nullptr;
        handlers.batch = {.max_messages = 4};
        handlers.messages = [this, first = std::move(handle_once)](Messages all) mutable {
            for (const MessageContext& each : all) {
                handled.append(each.message().text());
            }
            handled.append(" ");
            if (auto handle_batch = std::exchange(first, nullptr)) {
                handle_batch(all);
            } else {
                for (MessageContext& each : all) {
                    each.complete();
                }
            }
        };
        handlers.failure = [this](const FailureContext& failure) {
            failed.append(failure.message.text());
            return failure.configured;
        };
        start();
        link = open();
        for (const char* text : {"1", "2", "3", "4"}) {
            link->deliver(text);
        }
        run();
    }

    std::string failed{};
    test::ScriptedLinkPtr link{};
};

} // namespace

TEST_CASE("fail: in a batch, the message has failed, and those behind it start again") {
    FailBatch bench{[](Messages all) { all[1].fail(no_stock()); }};
    CHECK(bench.take_handled() == "1234 34 ");
    CHECK(bench.failed == "2");
    CHECK(bench.link->take_log() ==
          "complete 1, dead-letter 2 (HandlerFailed), complete 3, complete 4");
    CHECK(bench.last_error.detail == no_stock_text);
    CHECK(bench.errors == "message_handler handler_failed");
}

TEST_CASE("fail: in a batch, the first message with a failure counts") {
    FailBatch bench{[](Messages all) {
        all[3].fail({.code = Errc::timeout});
        all[2].fail(no_stock());
    }};
    CHECK(bench.take_handled() == "1234 4 "); // the second try of "4" begins without a failure
    CHECK(bench.failed == "3");
    CHECK(bench.last_error.detail == no_stock_text);
    CHECK(bench.link->take_log() ==
          "complete 1, complete 2, dead-letter 3 (HandlerFailed), complete 4");
}

TEST_CASE("fail: in a batch, an exception counts more, and a settlement stands") {
    SUBCASE("it throws") {
        FailBatch bench{[](Messages all) {
            all[0].complete();
            all[2].fail(no_stock());
            throw std::runtime_error{"thrown"};
        }};
        CHECK(bench.failed == "2");
        CHECK(bench.last_error.detail == "thrown");
    }
    SUBCASE("it settled the message") {
        FailBatch bench{[](Messages all) {
            all[3].fail(no_stock());
            all[3].complete();
        }};
        CHECK(bench.failed.empty());
        CHECK(bench.last_error.detail == no_stock_text);
        CHECK(bench.counters().messages_completed == 4);
    }
    SUBCASE("it had to settle an earlier one") {
        FailBatch bench{[](Messages all) {
                            all[0].complete();
                            all[2].fail(no_stock());
                        },
                        true};
        CHECK(bench.failed == "2");
        CHECK(bench.last_error.detail.find("without settling the message") != std::string::npos);
    }
}
