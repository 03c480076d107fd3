// SPDX-License-Identifier: MIT
// Handlers of batches, from the lane to the broker.
#include <doctest/doctest.h>

#include <span>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;
using Batch = std::span<MessageContext>;

namespace {

/// A processor whose handler gets batches. Each call is noted as "[1 2]".
struct BatchBench : ProcessorBench {
    explicit BatchBench(SessionProcessorOptions options = {}, BatchOptions batch = {})
        : ProcessorBench{std::move(options)} {
        handlers.start_message = nullptr;
        handlers.batch = batch;
        handlers.start_messages = [this](Batch all, Completion completion) {
            note(all);
            if (holds) {
                contexts = all;
                end = std::move(completion);
                return;
            }
            test::end_handler(completion, outcome_of(all));
        };
    }
    /// The same as a function.
    void use_function() {
        handlers.start_messages = nullptr;
        handlers.messages = [this](Batch all) {
            note(all);
            if (const std::exception_ptr error = outcome_of(all)) {
                std::rethrow_exception(error);
            }
        };
    }
    void note(Batch all) {
        std::string texts;
        for (const MessageContext& each : all) {
            texts.append(texts.empty() ? "[" : " ").append(each.message().text());
        }
        handled.append(handled.empty() ? "" : " ").append(texts).append("]");
    }
    std::exception_ptr outcome_of(Batch all) {
        try {
            if (handle_all) {
                handle_all(all);
            }
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    /// Ends the batch that runs.
    void finish_batch(const char* failure = nullptr) {
        test::end_handler(std::exchange(end, {}),
                          failure != nullptr ? std::make_exception_ptr(std::runtime_error{failure})
                                             : nullptr);
        run();
    }
    /// These come together.
    void come(const test::ScriptedLinkPtr& link, std::initializer_list<const char*> texts) {
        for (const char* text : texts) {
            link->deliver(text);
        }
    }

    /// Starts, and opens a session with these messages.
    test::ScriptedLinkPtr start_with(std::initializer_list<const char*> texts) {
        start();
        auto link = open();
        come(link, texts);
        run();
        return link;
    }

    std::function<void(Batch)> handle_all{};
    Batch contexts{};
    Completion end{};
};

/// Completes what comes before `text`, and throws there. Once.
auto fail_at(std::string text) {
    return [text = std::move(text), failed = false](Batch all) mutable {
        for (MessageContext& each : all) {
            if (each.message().text() == text && !std::exchange(failed, true)) {
                throw std::runtime_error{"at " + text};
            }
            each.complete();
        }
    };
}

} // namespace

TEST_CASE("batch: what has come is handled together, in order, and completed in order") {
    BatchBench bench{{}, {.max_messages = 3}};
    SUBCASE("a function") { bench.use_function(); }
    SUBCASE("an operation that ends within its start") {}
    const auto link = bench.start_with({"1", "2", "3", "4", "5"});
    CHECK(bench.take_handled() == "[1 2 3] [4 5]");
    CHECK(link->take_log() == "complete 1, complete 2, complete 3, complete 4, complete 5");
    CHECK(bench.counters().messages_handled == 5);
    CHECK(bench.counters().messages_completed == 5);
    CHECK(bench.slot().in_flight == 0);
}

TEST_CASE("batch: R6: the next one starts when the handler has ended, and what came meanwhile") {
    BatchBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.deliver(link, {"2", "3"});
    CHECK(bench.take_handled() == "[1]");
    CHECK(bench.slot().running == 1);
    bench.finish_batch();
    CHECK(bench.take_handled() == "[2 3]");
    CHECK(bench.slot().running == 2);
    CHECK(bench.slot().in_flight == 2);
    bench.finish_batch();
    CHECK(link->take_log() == "complete 1, complete 2, complete 3");
}

TEST_CASE("batch: R7: a batch is one handler") {
    BatchBench bench{{.max_concurrent_calls_per_session = 2}, {.max_messages = 2}};
    bench.handlers.start_messages = [&bench](Batch all, Completion completion) {
        bench.note(all);
        bench.started.push_back({"", all.data(), std::move(completion)});
    };
    const auto link = bench.start_with({"1", "2", "3", "4", "5"});
    CHECK(bench.take_handled() == "[1 2] [3 4]");
    bench.finish();
    CHECK(bench.take_handled() == "[5]");
    bench.finish_all();
}

TEST_CASE("batch: what it settled stands, the first it did not failed, the rest starts again") {
    BatchBench bench{{.failure_policy = FailurePolicy::abandon_at_once().after_attempts(
                          2, {.min = 1s, .max = 1s})}};
    bench.handle_all = fail_at("3");
    SUBCASE("a function") { bench.use_function(); }
    SUBCASE("an operation that ends within its start") {}
    const auto link = bench.start_with({"1", "2", "3", "4", "5"});
    CHECK(bench.take_handled() == "[1 2 3 4 5]");
    CHECK(link->take_log() == "complete 1, complete 2");
    CHECK(bench.last_error.detail == "at 3");
    CHECK(bench.counters().messages_failed == 1);
    CHECK(bench.counters().messages_handled == 2);
    CHECK(bench.slot().running == 0);
    bench.deliver(link, {"6"}); // behind them
    CHECK(bench.take_handled().empty());
    bench.advance(1s);
    CHECK(bench.take_handled() == "[3 4 5 6]");
    CHECK(link->take_log() == "complete 3, complete 4, complete 5, complete 6");
    CHECK(bench.errors == "message_handler handler_failed");
}

TEST_CASE("batch: a handler that returns early has handled what it did not look at") {
    BatchBench bench;
    bench.handle_all = [](Batch all) { all[1].abandon(); };
    const auto link = bench.start_with({"1", "2", "3"});
    CHECK(bench.take_handled() == "[1 2 3]");
    CHECK(link->take_log() == "complete 1, complete 3, drain, abandon 2");
    CHECK(bench.errors.empty());
}

TEST_CASE("batch: the policy sees the message that failed, and no other attempt counts") {
    BatchBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    bench.handle_all = fail_at("2");
    std::string seen;
    bench.handlers.failure = [&](const FailureContext& failure) {
        seen.append(failure.message.text()).append(std::to_string(failure.attempt));
        return failure.configured;
    };
    const auto link = bench.start_with({"1", "2", "3"});
    CHECK(bench.take_handled() == "[1 2 3] [3]");
    CHECK(link->take_log() == "complete 1, dead-letter 2 (HandlerFailed), complete 3");
    CHECK(seen == "21");
}

TEST_CASE("batch: R6: what is behind an abandoned message goes back first, uncounted") {
    BatchBench bench{{.failure_policy = FailurePolicy::abandon_at_once()}};
    SUBCASE("it failed") {
        bench.handle_all = [](Batch all) {
            all.front().complete();
            throw std::runtime_error{"no"};
        };
    }
    SUBCASE("it was abandoned, and the handler failed at the next") {
        bench.handle_all = [](Batch all) {
            all.front().complete();
            all[1].abandon();
            throw std::runtime_error{"no"};
        };
        bench.start();
        const auto link = bench.open();
        bench.come(link, {"1", "2", "3", "4"});
        bench.run();
        CHECK(bench.take_handled() == "[1 2 3 4]");
        CHECK(link->take_log() == "complete 1, drain, release 4, abandon 3, abandon 2");
        return;
    }
    const auto link = bench.start_with({"1", "2", "3", "4"});
    CHECK(bench.take_handled() == "[1 2 3 4]");
    CHECK(link->take_log() == "complete 1, drain, release 3, release 4, abandon 2");
    CHECK(bench.counters().messages_released == 2);
    bench.handle_all = nullptr;
    link->answers_state = true;
    link->redeliver("2");
    bench.come(link, {"3", "4"});
    bench.run();
    CHECK(bench.take_handled() == "[2 3 4]");
}

TEST_CASE("batch: a handler that throws after it settled all is reported, and nothing else") {
    BatchBench bench;
    bench.handle_all = [](Batch all) {
        for (MessageContext& each : all) {
            each.complete();
        }
        throw std::runtime_error{"late"};
    };
    const auto link = bench.start_with({"1", "2"});
    CHECK(bench.take_handled() == "[1 2]");
    CHECK(link->take_log() == "complete 1, complete 2");
    CHECK(bench.last_error.detail == "late");
    CHECK(bench.errors == "message_handler handler_failed");
}

TEST_CASE("batch: a start that throws has failed") {
    BatchBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    bench.handlers.start_messages = [&](Batch all, const Completion&) {
        bench.note(all);
        throw std::runtime_error{"no"};
    };
    const auto link = bench.start_with({"1", "2"});
    CHECK(bench.take_handled() == "[1 2] [2]");
    CHECK(link->take_log() == "dead-letter 1 (HandlerFailed), dead-letter 2 (HandlerFailed)");
}

TEST_CASE("batch: auto complete off, the first message that it left unsettled failed") {
    BatchBench bench{{.auto_complete = false, .failure_policy = FailurePolicy::dead_letter()}};
    bench.handle_all = [](Batch all) {
        if (all.size() > 1) {
            all.front().complete();
            all.back().defer();
        }
    };
    const auto link = bench.start_with({"1", "2", "3", "4"});
    CHECK(bench.take_handled() == "[1 2 3 4] [3]");
    CHECK(link->take_log() ==
          "complete 1, defer 4, dead-letter 2 (HandlerFailed), dead-letter 3 (HandlerFailed)");
}

TEST_CASE("batch: with confirmed settlements the next one waits for all answers") {
    BatchBench bench{{.confirm_settlements = true}, {.max_messages = 2}};
    bench.answers = false;
    const auto link = bench.start_with({"1", "2", "3"});
    CHECK(bench.take_handled() == "[1 2]");
    link->answer_settlement();
    bench.run();
    CHECK(bench.take_handled().empty());
    link->answer_settlement();
    bench.run();
    CHECK(bench.take_handled() == "[3]");
}

TEST_CASE("batch: what is past its deadline is in no batch, and does not end the lane") {
    BatchBench bench;
    bench.start();
    const auto link = bench.open();
    link->deliver("1");
    link->deliver("2", Deadline::at(bench.loop.now()));
    link->deliver("3");
    bench.run();
    CHECK(bench.take_handled() == "[1] [3]");
    CHECK(link->take_log() == "complete 1, dead-letter 2 (DeadlinePassed), complete 3");
}

TEST_CASE("batch: its operation context ends with the soonest deadline of its messages") {
    BatchBench bench;
    bench.use_function();
    Deadline seen;
    bench.handle_all = [&](Batch) { seen = OperationContext::current().deadline(); };
    bench.start();
    const auto link = bench.open();
    const Deadline soon = Deadline::at(bench.loop.now() + 2s);
    link->deliver("1", Deadline::at(bench.loop.now() + 5s));
    link->deliver("2", soon);
    link->deliver("3");
    bench.run();
    CHECK(seen.time() == soon.time());
}

TEST_CASE("batch: a lost lock ends it, and nothing is settled") {
    BatchBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 30s);
    bench.come(link, {"1", "2", "3"});
    bench.run();
    link->lose(Errc::lock_lost);
    bench.run();
    CHECK_THROWS_AS(bench.contexts.front().complete(), Error);
    SUBCASE("it returns") { bench.finish_batch(); }
    SUBCASE("it throws") { bench.finish_batch("no"); }
    CHECK(link->take_log().find("complete") == std::string::npos);
    CHECK(bench.slot().in_flight == 0);
}

TEST_CASE("batch: a pause waits for it, and what it gives back goes back to the broker") {
    BatchBench bench;
    bench.holds = true;
    const auto link = bench.start_with({"1", "2", "3"});
    bench.deliver(link, {"4"});
    bench.processor->pause();
    bench.run();
    CHECK(link->take_log() == "drain, release 4");
    bench.contexts.front().complete();
    bench.finish_batch("no");
    CHECK(link->take_log() == "complete 1, release 3, abandon 2, close");
    CHECK(bench.slot().state == "paused");
}

TEST_CASE("batch: a stop counts the messages of a batch that is left") {
    BatchBench bench;
    bench.holds = true;
    const auto link = bench.start_with({"1", "2"});
    bench.stop(1s);
    bench.advance(2s);
    REQUIRE(bench.stopped.size() == 1);
    CHECK(bench.stopped.front().left == 2);
    bench.finish_batch();
    CHECK(bench.emptied);
}

TEST_CASE("batch: messages that are deleted when they are sent are all handled") {
    BatchBench bench{
        {.receive_and_delete = true, .failure_policy = FailurePolicy::abandon_at_once()}};
    bench.holds = true;
    const auto link = bench.start_with({"1", "2", "3"});
    SUBCASE("while the session is held") {}
    SUBCASE("while it is left") { bench.stop(10s); }
    bench.finish_batch("no");
    CHECK(bench.take_handled() == "[1 2 3] [2 3]");
    bench.finish_batch();
    CHECK(bench.slot().in_flight == 0);
}

TEST_CASE("batch: a parked session keeps the order") {
    BatchBench bench{{.failure_policy = FailurePolicy::park_session(10s)}};
    bench.handle_all = fail_at("2");
    const auto link = bench.start_with({"1", "2", "3"});
    bench.advance(11s);
    CHECK(link->take_log() == "complete 1, drain, release 3, abandon 2, close");
}

TEST_CASE("batch: messages that were delivered before wait for the session's record") {
    BatchBench bench;
    bench.start();
    const auto link = bench.open();
    link->answers_state = true;
    link->deliver("1");
    link->redeliver("2");
    link->deliver("3");
    bench.run();
    CHECK(bench.take_handled() == "[1] [2 3]");
}

TEST_CASE("batch: a suspect of a crash guard is alone in its batch") {
    BatchBench bench{{.crash_guard = CrashGuard{}}};
    bench.start();
    const auto link = bench.open();
    link->answers_state = true;
    link->deliver("1");
    link->deliver_after_loss("2");
    link->deliver("3");
    link->deliver("4");
    bench.run();
    CHECK(bench.take_handled() == "[1] [2] [3 4]");
}

TEST_CASE("batch: a processor fetches more than one, and a turn bounds them") {
    BatchBench bench{{.max_buffered_bytes = std::size_t{1} << 40U}, {.max_messages = 300}};
    bench.start();
    CHECK(bench.open()->credit == 332);
    BatchBench turns{{.max_messages_per_turn = 2}, {.max_messages = 300}};
    turns.start();
    const auto link = turns.open();
    CHECK(link->credit == 2);
    turns.come(link, {"1", "2"});
    turns.run();
    CHECK(turns.take_handled() == "[1 2]");
    CHECK(link->take_log().ends_with("close"));
}

TEST_CASE("batch: it waits for more, and no worker waits with it") {
    BatchBench bench{{}, {.max_messages = 3, .max_wait = 1s}};
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.advance(900ms);
    bench.deliver(link, {"2"});
    CHECK(bench.take_handled().empty());
    CHECK(bench.slot().in_flight == 2);
    CHECK(bench.slot().running == 0);
    CHECK(bench.slot().waits_for == "more messages of a batch");
    CHECK(bench.dispatcher.ready_lanes() == 0);
    SUBCASE("for as long as it may") {
        bench.advance(99ms);
        CHECK(bench.take_handled().empty());
        bench.advance(1ms);
        CHECK(bench.take_handled() == "[1 2]");
        bench.deliver(link, {"3"});
        CHECK(bench.take_handled().empty());
        bench.advance(1s);
        CHECK(bench.take_handled() == "[3]");
    }
    SUBCASE("until it is full") {
        bench.deliver(link, {"3", "4"});
        CHECK(bench.take_handled() == "[1 2 3]");
        bench.advance(1s);
        CHECK(bench.take_handled() == "[4]");
    }
    SUBCASE("and goes back if the session is left") {
        bench.processor->pause();
        bench.run();
        CHECK(link->take_log() == "drain, release 1, release 2, close");
    }
    SUBCASE("and is forgotten if the lock is lost") {
        link->lose(Errc::lock_lost);
        bench.run();
        bench.advance(2s);
        CHECK(bench.take_handled().empty());
        CHECK(link->take_log().empty());
    }
}

TEST_CASE("batch: it waits for nothing that cannot come") {
    SUBCASE("the broker has shown that there is no more") {
        BatchBench bench{{.session_idle_timeout = 0s}, {.max_messages = 3, .max_wait = 1h}};
        bench.answers = false;
        bench.start();
        const auto link = bench.open();
        bench.deliver(link, {"1", "2"});
        CHECK(bench.take_handled().empty());
        link->answer_drain();
        bench.run();
        CHECK(bench.take_handled() == "[1 2]");
    }
    SUBCASE("all that may be fetched waits") {
        BatchBench bench{{.prefetch = 2}, {.max_messages = 3, .max_wait = 1h}};
        bench.start();
        const auto link = bench.open();
        bench.deliver(link, {"1"});
        CHECK(bench.take_handled().empty());
        bench.deliver(link, {"2"});
        CHECK(bench.take_handled() == "[1 2]");
    }
    SUBCASE("the session is left before") {
        BatchBench bench{{.max_hold = 10s}, {.max_messages = 3, .max_wait = 1h}};
        bench.start();
        bench.deliver(bench.open(), {"1"});
        bench.advance(5s);
        CHECK(bench.take_handled() == "[1]");
    }
    SUBCASE("messages that are deleted when they are sent are handled before the session is left") {
        BatchBench bench{{.receive_and_delete = true}, {.max_messages = 3, .max_wait = 1h}};
        bench.start();
        bench.deliver(bench.open(), {"1"});
        bench.stop(1s);
        CHECK(bench.take_handled() == "[1]");
    }
}

TEST_CASE("batch: what failed in one that waited does not wait for more again") {
    BatchBench bench{{.failure_policy = FailurePolicy::dead_letter()},
                     {.max_messages = 2, .max_wait = 1h}};
    bench.handle_all = fail_at("1");
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    CHECK(bench.take_handled() == "[1 2] [2]");
}

TEST_CASE("batch: what is to be tried again goes back with what the handler abandoned") {
    BatchBench bench{
        {.failure_policy = FailurePolicy::dead_letter().after_attempts(3, {.min = 1s, .max = 1s})}};
    bench.handle_all = [](Batch all) {
        all.front().abandon();
        throw std::runtime_error{"no"};
    };
    const auto link = bench.start_with({"1", "2", "3"});
    CHECK(link->take_log() == "drain, release 3, abandon 1, abandon 2");
    CHECK(bench.slot().state == "open");
    CHECK(bench.slot().in_flight == 0);
}
