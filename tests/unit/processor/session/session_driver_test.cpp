// SPDX-License-Identifier: MIT
#include "processor/session/session_driver.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include <sessionq/logging.hpp>

#include "ports/state_envelope.hpp"
#include "processor/session/session_record.hpp"
#include "support/code_of.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;

namespace {

const auto throws = [](MessageContext& /*context*/) { throw std::runtime_error{"no"}; };

/// Throws for one text.
auto throws_at(std::string text) {
    return [text = std::move(text)](MessageContext& context) {
        if (context.message().text() == text) {
            throw std::runtime_error{"no"};
        }
    };
}

} // namespace

TEST_CASE("session driver: messages are handled in order and completed, an idle session is drained "
          "and given back") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    bench.start();
    const auto link = bench.open();
    CHECK(link->credit == 32);
    bench.deliver(link, {"1", "2", "3"});
    CHECK(bench.handled == "1 2 3");
    CHECK(link->take_log() == "complete 1, complete 2, complete 3");
    bench.advance(999ms);
    CHECK(link->take_log().empty());
    bench.advance(2ms);
    CHECK(link->take_log() == "drain, close");
    CHECK(bench.counters().messages_completed == 3);
    CHECK(bench.counters().sessions_closed == 1);
    CHECK(bench.endpoint.accepts.size() == 1); // the next one
}

TEST_CASE("session driver: R1: the idle clock restarts when the last settlement is answered, not "
          "when the handler returns") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.deliver(link, {"1"});
    bench.advance(5s);
    CHECK(link->take_log() == "complete 1");
    link->answer_settlement();
    bench.advance(900ms);
    CHECK(link->take_log().empty());
    bench.advance(200ms);
    CHECK(link->take_log() == "drain");
}

TEST_CASE(
    "session driver: R2: a waiting message keeps the session, though its handler has not started") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    bench.start();
    const auto link = bench.open();
    bench.advance(900ms);
    link->deliver("1"); // no worker is free yet
    bench.loop.advance(5s);
    CHECK(link->take_log().empty());
    bench.run();
    CHECK(bench.handled == "1");
}

TEST_CASE(
    "session driver: R2: a message between idle and the drain's answer goes back to work, for "
    "a whole idle time") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.advance(1001ms);
    CHECK(link->take_log() == "drain");
    bench.deliver(link, {"1"});
    CHECK(bench.handled == "1");
    link->answer_settlement();
    bench.run();
    CHECK(link->take_log() == "complete 1");
    link->answer_drain(); // handled and settled meanwhile: idle since now only
    bench.run();
    CHECK(link->take_log().empty());
    CHECK(bench.slot().state == "open");
    bench.advance(900ms);
    CHECK(link->take_log().empty());
    bench.advance(200ms);
    CHECK(link->take_log() == "drain");
}

TEST_CASE(
    "session driver: R3: a message that comes after the session was left goes back uncounted") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    bench.handlers.session_close = [](SessionContext&, CloseReason) {};
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.advance(1001ms);
    bench.advance(6s); // the drain is never answered: bounded
    CHECK(link->take_log() == "drain, close");
    CHECK(bench.handled.empty());
    CHECK(bench.counters().sessions_closed == 1);
}

TEST_CASE("session driver: what comes to one session while another's actions are performed is done "
          "for its own") {
    ProcessorBench bench{{.max_concurrent_sessions = 2}};
    bench.handle = [](MessageContext& context) {
        if (context.message().text() == "last") {
            context.session().release();
        }
    };
    bench.start();
    const auto a = bench.open("a");
    const auto b = bench.open("b");
    a->at_close = [&] { b->deliver("1"); };
    bench.deliver(a, {"last"});
    CHECK(a->take_log() == "complete last, drain, close");
    CHECK(b->take_log() == "complete 1");
    CHECK(bench.handled == "last 1");
    CHECK(bench.processor->describe_here().slots.at(1).session_id == "b");
    CHECK(bench.counters().sessions_closed == 1);
}

TEST_CASE("session driver: R4: with idle timeout zero a session of one message takes one drain") {
    ProcessorBench bench{{.session_idle_timeout = Duration::zero()}};
    bench.answers = false;
    bench.start();
    const auto link = bench.open();
    link->deliver("1");
    link->answers = true;
    bench.advance(10ms);
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain, complete 1, close");
}

TEST_CASE("session driver: R4: the next accept does not wait for the close's answer") {
    ProcessorBench bench{{.session_idle_timeout = Duration::zero()}};
    bench.answers = false;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    link->answer_settlement();
    link->answer_drain();
    bench.advance(1ms);
    CHECK(link->take_log() == "drain, complete 1, close");
    CHECK(bench.endpoint.accepts.size() == 1);
}

TEST_CASE("session driver: R6: what was behind an abandoned message goes back first, then it, then "
          "credit") {
    ProcessorBench bench;
    bench.handle = throws_at("1");
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.deliver(link, {"1", "2", "3"});
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain");
    CHECK(bench.slot().state == "rewinding");
    CHECK(bench.slot().waits_for == "the drain's answer");
    bench.deliver(link, {"4"}); // crossed the drain
    link->answer_drain();
    bench.run();
    CHECK(link->take_log() == "release 2, release 3, release 4, abandon 1");
    CHECK(link->credit == 0);
    CHECK(bench.slot().waits_for == "settlements");
    for (int i = 0; i < 4; ++i) {
        link->answer_settlement();
    }
    CHECK(link->credit == 32);
    bench.deliver(link, {"1b"});
    CHECK(bench.handled == "1 1b");
}

TEST_CASE(
    "session driver: R6: an explicit abandon in the handler waits for what is behind it as well") {
    ProcessorBench bench;
    bench.handle = [](MessageContext& context) {
        if (context.message().text() == "1") {
            context.abandon();
        }
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    CHECK(link->take_log() == "drain, release 2, abandon 1");
    CHECK(bench.handled == "1");
}

TEST_CASE(
    "session driver: R6: the next message starts once the settlement was confirmed, where that "
    "is wanted") {
    ProcessorBench bench{{.confirm_settlements = true}};
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.deliver(link, {"1", "2"});
    CHECK(bench.handled == "1");
    link->answer_settlement();
    bench.run();
    CHECK(bench.handled == "1 2");
}

TEST_CASE(
    "session driver: R6: two that fail at once after the calls were lowered to one both go back") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    REQUIRE(bench.started.size() == 2);
    bench.processor->update_limits(
        {.max_concurrent_sessions = 1, .max_concurrent_calls_per_session = 1});
    link->answers = false;
    bench.run();
    bench.finish("no");
    bench.finish("no");
    link->answers = true;
    bench.run();
    CHECK(link->take_log() == "drain, release 3, abandon 1, abandon 2");
    CHECK(bench.slot().in_flight == 0);
    bench.holds = false;
    bench.deliver(link, {"1b", "2b"});
    CHECK(link->take_log() == "complete 1b, complete 2b");
}

TEST_CASE("session driver: R7: at most k handlers of a session run") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    CHECK(bench.handled == "1 2");
    bench.finish();
    CHECK(bench.handled == "1 2 3");
    CHECK(bench.slot().running == 2);
}

TEST_CASE("session driver: R6: with several calls nothing passes a message that is abandoned") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3", "4"});
    bench.finish("no");
    CHECK(bench.handled == "1 2");
    CHECK(link->take_log() == "drain, release 3, release 4");
    bench.finish();
    CHECK(link->take_log() == "complete 2, abandon 1");
    bench.deliver(link, {"1b", "3b"});
    CHECK(bench.handled == "1 2 1b 3b");
}

TEST_CASE("session driver: R6: with several calls an early abandon waits for the handler, too") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    bench.started.front().context->abandon();
    bench.run();
    CHECK(link->take_log().empty());
    bench.finish();
    bench.finish();
    CHECK(bench.handled == "1 2");
    CHECK(link->take_log() == "drain, release 3, complete 2, abandon 1");
}

TEST_CASE("session driver: R6: with several calls retries in place keep the order of starts") {
    ProcessorBench bench{
        {.max_concurrent_calls_per_session = 2,
         .failure_policy = FailurePolicy::abandon().after_attempts(2, {.min = 1s, .max = 1s})}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    bench.finish("no");
    bench.advance(400ms);
    bench.finish("no"); // its next try is due after that of the first
    CHECK(bench.handled == "1 2");
    bench.advance(2s);
    CHECK(bench.handled == "1 2 1 2");
    bench.finish();
    CHECK(bench.handled == "1 2 1 2 3");
}

TEST_CASE("session driver: R6: with several calls nothing starts while the session waits") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2,
                          .failure_policy = FailurePolicy::park_session(10s)}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    bench.finish("no");
    CHECK(bench.handled == "1 2");
    CHECK(link->take_log() == "drain, release 3");
    bench.advance(11s); // the other handler runs on
    CHECK(bench.handled == "1 2");
    bench.finish();
    CHECK(link->take_log() == "complete 2, abandon 1, close");
}

TEST_CASE("session driver: R6: nothing starts while on_failure chooses a policy") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2}};
    bench.holds = true;
    bench.handlers.failure = [&bench](const FailureContext&) {
        bench.step_workers(); // as another thread would
        return FailurePolicy::dead_letter();
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    link->answers = false;
    bench.finish("no");
    CHECK(bench.handled == "1 2");
    link->answers = true;
    bench.run();
    CHECK(bench.handled == "1 2 3");
}

TEST_CASE("session driver: R6: with several calls nothing passes a message that may have to wait") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2}};
    bench.start();
    const auto link = bench.open();
    link->answers_state = false;
    link->redeliver("1");
    link->deliver("2");
    link->deliver("3");
    bench.run();
    CHECK(bench.handled.empty());
    link->answers_state = true;
    bench.run();
    CHECK(bench.handled == "1 2 3");
}

TEST_CASE("session driver: R9: of several delays of a session the longest is kept") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2,
                          .failure_policy = FailurePolicy::retry_later({10s, 1s})}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    link->answers_state = true;
    link->deliver("1");
    link->redeliver("2");
    bench.run();
    bench.finish("no");
    bench.finish("no");
    const auto record =
        detail::processor::SessionRecord::read(ports::StateEnvelope::open(link->state).record);
    CHECK(record.left(bench.loop.clock().wall_now()) == 10s);
    bench.advance(9s);
    CHECK(bench.handled == "1 2");
    CHECK(bench.processor->describe_here().parked.size() == 1);
}

TEST_CASE("session driver: R8: a message is settled once") {
    ProcessorBench bench;
    Errc second{};
    bench.handle = [&](MessageContext& context) {
        context.dead_letter("odd");
        CHECK(context.settled());
        second = test::code_of([&] { context.complete(); });
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK(second == Errc::already_settled);
    CHECK(link->take_log() == "dead-letter 1 (odd)");
}

TEST_CASE("session driver: R8: settling after the lease was lost fails at once and locally") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    link->lose(Errc::lock_lost);
    bench.run();
    CHECK(test::code_of([&] { bench.started.front().context->complete(); }) == Errc::lock_lost);
    CHECK(bench.started.front().context->stop_token().stop_requested());
    bench.finish();
    CHECK(link->take_log().empty());
}

TEST_CASE("session driver: R9: retries in place keep the order and the lease, with a backoff") {
    ProcessorBench bench{
        {.failure_policy = FailurePolicy::abandon().after_attempts(3, {.min = 100ms, .max = 1s})}};
    int tries = 0;
    bench.handle = [&](MessageContext& context) {
        if (context.message().text() == "1" && context.attempt() < 3) {
            ++tries;
            throw std::runtime_error{"no"};
        }
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    CHECK(bench.handled == "1");
    CHECK(bench.slot().waits_for == "the next try of a message");
    bench.advance(1s);
    CHECK(tries == 2);
    CHECK(bench.handled == "1 1 1 2");
    CHECK(link->take_log() == "complete 1, complete 2");
    CHECK(bench.errors == "message_handler handler_failed, message_handler handler_failed");
}

TEST_CASE("session driver: R9: dead-letter goes on with the session") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    bench.handle = throws_at("1");
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    CHECK(link->take_log() == "dead-letter 1 (HandlerFailed), complete 2");
}

TEST_CASE(
    "session driver: R9: dead-letter the session takes what waits and what comes, then leaves") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter_session()}};
    bench.handle = throws_at("1");
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.deliver(link, {"1", "2"});
    bench.deliver(link, {"3"});
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "dead-letter 1 (HandlerFailed), dead-letter 2 (SessionDeadLettered), "
                              "dead-letter 3 (SessionDeadLettered)");
    link->answers = true;
    bench.advance(10ms);
    CHECK(link->take_log() == "drain, close");
}

TEST_CASE(
    "session driver: R9: a parked session rests for its time, then everything goes back in order") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::park_session(10s)}};
    bench.handle = throws_at("1");
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    bench.advance(9s);
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain, release 2");
    CHECK(bench.slot().state == "accepting");
    const auto parked = bench.processor->describe_here().parked;
    REQUIRE(parked.size() == 1);
    CHECK(parked.front().state == "parked");
    CHECK(parked.front().waits_for == "the end of parking");
    CHECK(bench.counters().sessions_parked == 1);
    bench.advance(2s);
    CHECK(link->take_log() == "abandon 1, close");
    CHECK(bench.processor->describe_here().parked.empty());
}

TEST_CASE("session driver: R9, R25: by default a failed message waits before it is abandoned") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::abandon_after({.min = 2s, .max = 8s})}};
    bench.handle = throws_at("1");
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    bench.advance(900ms);
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain, release 2"); // R6: what is behind it goes back first
    CHECK(bench.slot().state == "accepting");
    bench.advance(1200ms);
    CHECK(link->take_log() == "abandon 1, close");
}

TEST_CASE("session driver: R18: a stop does not wait for a message that is to be abandoned later") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::abandon_after({.min = 1h, .max = 1h})}};
    bench.handle = throws_at("1");
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.stop(10s);
    CHECK(link->take_log() == "drain, abandon 1, close");
}

TEST_CASE("session driver: on_failure chooses by exception, attempt and delivery count") {
    ProcessorBench bench;
    bench.handle = throws_at("1");
    std::string told;
    bench.handlers.failure = [&told](const FailureContext& failure) {
        try {
            std::rethrow_exception(failure.exception);
        } catch (const std::runtime_error& error) {
            told.append(error.what())
                .append(" ")
                .append(failure.session_id)
                .append(std::to_string(failure.attempt))
                .append(std::to_string(failure.delivery_count()));
        }
        return failure.attempt == 1
                   ? FailurePolicy::abandon().after_attempts(5, {.min = 1s, .max = 1s})
                   : FailurePolicy::dead_letter();
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    CHECK(link->take_log().empty());
    bench.advance(1s);
    CHECK(told == "no a10no a20");
    CHECK(bench.handled == "1 1 2");
    CHECK(link->take_log() == "dead-letter 1 (HandlerFailed), complete 2");
}

TEST_CASE(
    "session driver: on_failure that throws or answers nonsense leaves the configured policy") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    bench.handle = [](MessageContext&) { throw std::runtime_error{"no"}; };
    bench.handlers.failure = [](const FailureContext& failure) {
        if (failure.message.text() == "1") {
            throw std::runtime_error{"undecided"};
        }
        FailurePolicy policy = FailurePolicy::abandon();
        policy.max_attempts = 0;
        return policy;
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    CHECK(link->take_log() == "dead-letter 1 (HandlerFailed), dead-letter 2 (HandlerFailed)");
    CHECK(bench.errors == "failure_policy handler_failed, message_handler handler_failed, "
                          "failure_policy invalid_option, message_handler handler_failed");
}

TEST_CASE("session driver: on_failure is not asked where the handler had settled the message") {
    ProcessorBench bench;
    bench.handle = [](MessageContext& context) {
        context.complete();
        throw std::runtime_error{"no"};
    };
    bool asked = false;
    bench.handlers.failure = [&asked](const FailureContext&) {
        asked = true;
        return FailurePolicy::dead_letter();
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK_FALSE(asked);
    CHECK(link->take_log() == "complete 1");
}

namespace {

/// A bench whose link answers what is asked of the session's state.
struct RetryBench : ProcessorBench {
    explicit RetryBench(SessionProcessorOptions options =
                            {.failure_policy = FailurePolicy::retry_later({10s, 60s})})
        : ProcessorBench{std::move(options)} {
        start();
        link = open();
        link->answers_state = true;
    }

    test::ScriptedLinkPtr link{};
};

} // namespace

TEST_CASE("session driver: R9: retry later keeps the delay, gives back in order, then leaves") {
    RetryBench bench;
    bench.handle = throws_at("1");
    bench.link->state = "half way";
    bench.deliver(bench.link, {"1", "2"});
    bench.advance(9s);
    CHECK(bench.handled == "1");
    CHECK(bench.link->take_log() == "drain, state read, release 2, state written, abandon 1");
    CHECK(bench.slot().state == "accepting"); // R25
    const auto envelope = ports::StateEnvelope::open(bench.link->state);
    CHECK(envelope.application == "half way");
    CHECK_FALSE(envelope.record.empty());
    bench.advance(2s);
    CHECK(bench.link->take_log() == "state read, state written, close");
    CHECK(bench.link->state == "half way");
}

TEST_CASE("session driver: a session with nothing in flight waits for its record, and says so") {
    RetryBench bench;
    bench.handle = throws_at("1");
    bench.deliver(bench.link, {"1"});
    bench.link->answers_state = false;
    bench.advance(11s);
    const auto parked = bench.processor->describe_here().parked;
    REQUIRE(parked.size() == 1);
    CHECK(parked.front().in_flight == 0);
    CHECK(parked.front().state == "leaving");
    CHECK(parked.front().waits_for == "the session's record");
}

TEST_CASE("session driver: R9: a message that was delivered before waits for the session's delay") {
    RetryBench bench;
    bench.link->state =
        ports::StateEnvelope{.record =
                                 detail::processor::SessionRecord{
                                     .not_before = bench.loop.clock().wall_now() + 7s, .delay = 10s}
                                     .write()}
            .seal();
    bench.link->redeliver("1");
    bench.link->deliver("2");
    bench.run();
    bench.advance(6s);
    CHECK(bench.handled.empty());
    CHECK(bench.link->take_log() == "state read, drain, release 2, release 1");
    CHECK(bench.slot().state == "accepting");
    bench.advance(2s);
    CHECK(bench.link->take_log() == "state read, state cleared, close");
}

TEST_CASE("session driver: a delay that is over is removed, and the message is handled at once") {
    RetryBench bench;
    bench.link->state =
        ports::StateEnvelope{
            .record = detail::processor::SessionRecord{.not_before = bench.loop.clock().wall_now(),
                                                       .delay = 10s}
                          .write()}
            .seal();
    bench.link->redeliver("1");
    bench.link->redeliver("2");
    bench.run();
    CHECK(bench.handled == "1 2");
    CHECK(bench.link->take_log() ==
          "state read, state read, complete 1, state cleared, complete 2");
}

TEST_CASE("session driver: messages that were never delivered before cost no request") {
    RetryBench bench;
    bench.deliver(bench.link, {"1", "2"});
    CHECK(bench.link->take_log() == "complete 1, complete 2");
}

TEST_CASE("session driver: R18: a stop keeps the delay with the session before it gives back") {
    RetryBench bench;
    bench.holds = true;
    bench.deliver(bench.link, {"1"});
    bench.stop(10s);
    bench.link->answers_state = false;
    bench.finish("no");
    CHECK(bench.link->take_log() == "drain"); // the record is being written
    bench.link->answers_state = true;
    bench.run();
    CHECK(bench.link->take_log() == "state read, state written, abandon 1, close");
    CHECK(bench.link->state);
}

TEST_CASE("session driver: a delay that cannot be kept or read is told") {
    RetryBench bench;
    bench.handle = throws_at("1");
    bench.link->answers_state = false;
    bench.deliver(bench.link, {"1"});
    REQUIRE(bench.link->readers.size() == 1);
    bench.link->readers.front()(Failure{.code = Errc::timeout});
    bench.run();
    CHECK(bench.link->take_log() == "drain, abandon 1");
    CHECK(bench.errors == "message_handler handler_failed, session_record timeout");

    RetryBench reading;
    reading.link->answers_state = false;
    reading.link->redeliver("1");
    reading.run();
    REQUIRE(reading.link->readers.size() == 1);
    CHECK(reading.slot().waits_for == "the session's record");
    reading.link->readers.front()(Failure{.code = Errc::timeout});
    reading.run();
    CHECK(reading.handled.empty());
    CHECK(reading.link->take_log() == "drain, release 1, close");
    CHECK(reading.errors == "session_record timeout");
}

namespace {

struct GuardBench : RetryBench {
    explicit GuardBench(CrashGuard guard = {}, FailurePolicy policy = {})
        : RetryBench{{.failure_policy = std::move(policy), .crash_guard = guard}} {}

    /// Deaths of the message with this number, as another process has left them.
    void leave_behind(std::int64_t sequence, std::uint32_t begun) const {
        link->state =
            ports::StateEnvelope{.application = "half way",
                                 .record =
                                     detail::processor::SessionRecord{
                                         .attempts = {.sequence = sequence, .begun = begun}}
                                         .write()}
                .seal();
    }
    [[nodiscard]] detail::processor::NotedAttempts noted() const {
        return detail::processor::SessionRecord::read(
                   ports::StateEnvelope::open(link->state).record)
            .attempts;
    }
};

} // namespace

TEST_CASE("session driver: crash guard: with nothing suspicious there is no request") {
    GuardBench bench;
    bench.deliver(bench.link, {"1", "2"});
    bench.advance(2s);
    CHECK(bench.link->take_log() == "complete 1, complete 2, drain, close");
}

TEST_CASE("session driver: crash guard: an attempt is noted before the handler, and goes after") {
    GuardBench bench;
    bench.holds = true;
    bench.link->state = "half way";
    bench.link->deliver_after_loss("1");
    bench.link->deliver("2");
    bench.run();
    CHECK(bench.link->take_log() == "state read, state read, state written");
    CHECK(bench.noted().sequence == 1);
    CHECK(bench.noted().begun == 2); // the lost holder is presumed to be the first death
    CHECK(bench.started.size() == 1);
    bench.finish();
    CHECK(bench.link->take_log() == "complete 1");
    CHECK(bench.started.size() == 1); // the next one, not suspect
    bench.finish();
    bench.advance(2s);
    CHECK(bench.link->take_log() == "complete 2, drain, state read, state written, close");
    CHECK(bench.link->state == "half way");
}

TEST_CASE("session driver: crash guard: the handler waits for the note, the next for the answer") {
    GuardBench bench;
    bench.link->answers_state = false;
    bench.link->deliver_after_loss("1");
    bench.link->deliver("2");
    bench.run();
    CHECK(bench.handled.empty());
    CHECK(bench.link->answer_state());
    bench.run();
    CHECK(bench.link->answer_state());
    bench.run();
    CHECK(bench.handled.empty()); // the note is being written
    bench.link->answers = false;
    CHECK(bench.link->answer_state());
    bench.run();
    CHECK(bench.handled == "1");
    REQUIRE(bench.link->answer_settlement());
    bench.run();
    CHECK(bench.handled == "1 2");
}

TEST_CASE("session driver: crash guard: after n deaths the message goes, the session stays") {
    GuardBench bench;
    bench.leave_behind(1, 3);
    bench.link->deliver_after_loss("1");
    bench.link->deliver_after_loss("2");
    bench.run();
    CHECK(bench.handled == "2");
    CHECK(bench.link->take_log() ==
          "state read, dead-letter 1 (ConsumerLost), state read, state written, complete 2");
    bench.advance(2s);
    CHECK(bench.link->state == "half way");
}

TEST_CASE("session driver: crash guard: one death fewer, and it is tried again") {
    GuardBench bench;
    bench.leave_behind(1, 2);
    bench.holds = true;
    bench.link->deliver_after_loss("1");
    bench.run();
    CHECK(bench.noted().begun == 3);
    bench.finish();
    CHECK(bench.link->take_log() == "state read, state read, state written, complete 1");
}

TEST_CASE("session driver: crash guard: what is noted of another message is no death of this one") {
    GuardBench bench;
    bench.leave_behind(7, 3);
    bench.holds = true;
    bench.link->redeliver("1");
    bench.run();
    CHECK(bench.noted().sequence == 1);
    CHECK(bench.noted().begun == 1);
    bench.finish();
}

TEST_CASE("session driver: crash guard: a handler that throws is no death") {
    GuardBench bench{{}, FailurePolicy::abandon_at_once()};
    bench.leave_behind(1, 2);
    bench.handle = throws_at("1");
    bench.link->deliver_after_loss("1");
    bench.run();
    CHECK(bench.link->take_log() == "state read, state read, state written, drain, state read, "
                                    "state written, abandon 1");
    CHECK(bench.noted().begun == 2);
}

TEST_CASE("session driver: crash guard: each attempt in place is noted, none of them stays") {
    GuardBench bench{{}, FailurePolicy::dead_letter().after_attempts(2, {.min = 1s, .max = 1s})};
    bench.handle = throws_at("1");
    bench.link->redeliver("1");
    bench.run();
    CHECK(bench.handled == "1");
    CHECK(bench.noted().begun == 0); // while it waits for its next attempt
    bench.advance(2s);
    CHECK(bench.handled == "1 1");
    bench.advance(2s);
    CHECK_FALSE(bench.link->state);
}

TEST_CASE("session driver: crash guard: parks where that is its action, and the deaths stay") {
    GuardBench bench{{.then = CrashGuard::Action::park_session, .park_for = 10s}};
    bench.leave_behind(1, 3);
    bench.link->deliver_after_loss("1");
    bench.link->deliver("2");
    bench.advance(5s);
    CHECK(bench.handled.empty());
    CHECK(bench.link->take_log() == "state read, drain, release 2");
    bench.advance(6s);
    CHECK(bench.link->take_log() == "abandon 1, close");
    CHECK(bench.noted().begun == 3);
}

TEST_CASE("session driver: crash guard: a stop before the handler starts is no death") {
    GuardBench bench;
    bench.link->answers_state = false;
    bench.link->deliver_after_loss("1");
    bench.run();
    CHECK(bench.link->answer_state()); // no delay
    bench.run();
    CHECK(bench.link->answer_state()); // read, to be written
    bench.stop(10s);
    bench.link->answers_state = true;
    bench.run();
    CHECK(bench.handled.empty());
    CHECK(bench.link->take_log() == "state read, state read, drain, state written, release 1, "
                                    "state read, state written, close");
    CHECK(bench.noted().begun == 1); // as it was presumed
}

TEST_CASE("session driver: crash guard: the first of every session, where brokers tell nothing") {
    GuardBench bench{{.every_session = true}};
    bench.deliver(bench.link, {"1", "2"});
    CHECK(bench.handled == "1 2");
    CHECK(bench.link->take_log() ==
          "state read, state read, state written, complete 1, complete 2");
    bench.advance(2s);
    CHECK_FALSE(bench.link->state);
}

TEST_CASE("session driver: R9: a retry that is due does not end parking") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2,
                          .failure_policy = FailurePolicy::park_session(10s).after_attempts(
                              2, {.min = 100ms, .max = 100ms})}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.finish("no");
    bench.advance(200ms);
    bench.deliver(link, {"2"});
    bench.finish("no"); // the second try of 1: parks
    bench.finish("no"); // the first of 2
    bench.advance(5s);
    CHECK(link->take_log() == "drain");
    bench.advance(6s);
    CHECK(link->take_log() == "abandon 2, abandon 1, close");
}

TEST_CASE(
    "session driver: R11: the lease is renewed while a handler runs, and held sessions do not "
    "expire") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1"});
    for (int i = 0; i < 5; ++i) {
        bench.advance(50s);
        CHECK(link->take_log() == "renew");
        REQUIRE(link->answer_renewal(ports::LockGrant{.length = 60s}));
        bench.run();
    }
    CHECK(bench.counters().lock_renewals == 5);
    CHECK_FALSE(bench.started.front().context->stop_token().stop_requested());
    CHECK(bench.started.front().context->session().lock_expires().time() == bench.loop.now() + 60s);
    CHECK(bench.started.front().context->deadline().is_never());
}

TEST_CASE("session driver: R13: the stop token fires before the lease ends, nothing starts after, "
          "and the loss is told") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1", "2"});
    bench.advance(57s);
    CHECK(link->take_log() == "renew"); // never answered
    const auto stop = bench.started.front().context->stop_token();
    CHECK_FALSE(stop.stop_requested());
    bench.advance(1500ms);
    CHECK(stop.stop_requested());
    bench.finish();
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain, release 2, complete 1, close");
    CHECK(bench.counters().locks_lost == 0);
}

TEST_CASE("session driver: R13: a lease that ends under a handler is lost, what the handler says "
          "counts no more") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1"});
    bench.advance(61s);
    CHECK(bench.counters().locks_lost == 1);
    CHECK(bench.errors == "lock_renewal lock_lost");
    CHECK(link->take_log() == "renew, drain");
    CHECK(bench.endpoint.accepts.empty()); // the slot is its handler's until it returns
    bench.finish();
    CHECK(link->take_log().empty());
    bench.advance(1s);
    CHECK(bench.endpoint.accepts.size() == 1); // R17: after a backoff
}

TEST_CASE(
    "session driver: R6: a message passed over because the lease was ending starts first when "
    "the lease was renewed after all") {
    ProcessorBench bench{{.session_idle_timeout = 120s}};
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.advance(51s); // a renewal was asked for at 50 s
    REQUIRE(link->take_log() == "renew");
    link->deliver("1");
    link->deliver("2");
    bench.loop.run_until_idle();
    bench.loop.clock().advance(
        8s); // the loop has not looked yet: the worker finds the lease about to end
    CHECK(bench.step_workers());
    CHECK(bench.handled.empty());
    REQUIRE(link->answer_renewal(ports::LockGrant{.length = 60s}));
    bench.run();
    CHECK(bench.handled == "1 2");
    CHECK(link->take_log() == "complete 1, complete 2");
}

TEST_CASE(
    "session driver: a message passed over because the lease was ending goes back when it was "
    "not renewed") {
    ProcessorBench bench{{.session_idle_timeout = 120s}};
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.advance(51s);
    REQUIRE(link->take_log() == "renew");
    link->deliver("1");
    link->deliver("2");
    bench.loop.run_until_idle();
    bench.loop.clock().advance(8s);
    CHECK(bench.step_workers());
    bench.run();
    CHECK(bench.handled.empty());
    CHECK(link->take_log() == "drain, release 1, release 2, close");
}

TEST_CASE("session driver: a renewal that fails is told and repeated") {
    ProcessorBench bench{{.session_idle_timeout = 1h}};
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.advance(51s);
    REQUIRE(link->answer_renewal(Failure{.code = Errc::server_busy}));
    bench.advance(4s);
    CHECK(link->take_log() == "renew, renew");
    CHECK(bench.errors == "lock_renewal server_busy");
    REQUIRE(link->answer_renewal(ports::LockGrant{.length = 60s}));
    bench.advance(10s);
    CHECK(bench.counters().locks_lost == 0);
}

TEST_CASE("session driver: R12: an uncertain lock is renewed at once, and goes by the answer") {
    ProcessorBench bench{{.session_idle_timeout = 1h}};
    bench.start();
    const auto link = bench.open("a", 90s);
    bench.advance(5s);
    link->events->on_lock_uncertain();
    bench.advance(0s);
    CHECK(link->take_log() == "renew");
    REQUIRE(link->answer_renewal(ports::LockGrant{.length = 30s}));
    bench.advance(19s);
    CHECK(link->take_log().empty());
    bench.advance(1s);
    CHECK(link->take_log() == "renew");
}

TEST_CASE("session driver: R13: a lease is not renewed for a handler that has made no progress for "
          "max_lock_renewal") {
    ProcessorBench bench{{.max_lock_renewal = 70s}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1"});
    bench.advance(50s);
    REQUIRE(link->answer_renewal(ports::LockGrant{.length = 60s})); // ends at 110 s
    bench.advance(51s);
    CHECK(link->take_log() == "renew"); // not again at 100 s
    bench.advance(8s);
    CHECK(bench.started.front().context->stop_token().stop_requested());
    CHECK(bench.errors == "lock_renewal lock_lost");
    CHECK(bench.last_error.detail.find("max_lock_renewal") != std::string::npos);
    bench.advance(1min);
    CHECK(bench.errors == "lock_renewal lock_lost"); // once
}

TEST_CASE("session driver: R13: once a slow handler has finished its lease is renewed at once") {
    ProcessorBench bench{{.max_lock_renewal = 30s}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1"});
    bench.advance(55s);
    CHECK(link->take_log().empty());
    bench.finish();
    CHECK(link->take_log() == "renew, complete 1");
}

TEST_CASE("session driver: a session given anew waits for the handlers of the lost lease") {
    ProcessorBench bench{{.max_concurrent_sessions = 2}};
    bench.holds = true;
    bench.start();
    const auto lost = bench.open();
    bench.deliver(lost, {"1"});
    lost->lose(Errc::lock_lost);
    bench.run();
    const auto anew = bench.open();
    CHECK(anew->credit == 0);
    CHECK(bench.slot(1).waits_for == "the handlers of an earlier lock");
    bench.finish();
    CHECK(anew->credit == 32);
    bench.deliver(anew, {"1"});
    CHECK(bench.handled == "1 1");
}

TEST_CASE(
    "session driver: R29: a session given anew in another case waits too, where case does not "
    "matter") {
    ProcessorBench bench{{.max_concurrent_sessions = 2}};
    bool folds = true;
    SUBCASE("it does not matter") {
        bench.endpoint.can = ports::Capabilities{
            "bus", {ports::Capability::accept_next, ports::Capability::session_ids_without_case}};
    }
    SUBCASE("it matters") { folds = false; }
    bench.holds = true;
    bench.start();
    const auto lost = bench.open("Ada");
    bench.deliver(lost, {"1"});
    lost->lose(Errc::lock_lost);
    bench.run();
    const auto anew = bench.open("ada");
    CHECK((anew->credit == 0) == folds);
    bench.finish();
    CHECK(anew->credit == 32);
}

TEST_CASE("session driver: R14: max_hold ends a busy session between handlers") {
    ProcessorBench bench{{.max_hold = 10s}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    bench.advance(11s);
    CHECK_FALSE(bench.started.front().context->stop_token().stop_requested());
    CHECK(bench.slot().state == "leaving");
    bench.finish();
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain, release 2, complete 1, close");
}

TEST_CASE("session driver: R14: max_messages_per_turn counts messages, not their tries") {
    ProcessorBench bench{
        {.max_messages_per_turn = 2,
         .failure_policy = FailurePolicy::abandon().after_attempts(3, {.min = 10ms, .max = 10ms})}};
    bench.handle = [](MessageContext& context) {
        if (context.attempt() < 3) {
            throw std::runtime_error{"no"};
        }
    };
    bench.start();
    const auto link = bench.open();
    CHECK(link->credit ==
          2); // more are not fetched, so that none starts before the turn is known to be over
    bench.deliver(link, {"1", "2"});
    bench.advance(1s);
    CHECK(bench.handled == "1 1 1 2 2 2");
    CHECK(link->credit == 0);
    CHECK(link->take_log() == "complete 1, complete 2, close");
}

TEST_CASE("session driver: R15: settlements that are never answered end the session") {
    ProcessorBench bench;
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.deliver(link, {"1"});
    bench.advance(31s);
    CHECK(bench.errors == "settlement timeout");
    CHECK(bench.counters().locks_lost == 1);
    CHECK_FALSE(link->alive);
}

TEST_CASE(
    "session driver: R23: a close that is never answered keeps no message whose settlement was "
    "not answered either") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    test::ScriptedLinkPtr link;
    bench.handlers.session_close = [&](SessionContext&, CloseReason) { link->deliver("late"); };
    bench.start();
    link = bench.open();
    link->answers = false;
    bench.advance(7s); // the drain is never answered: bounded
    CHECK(link->take_log() == "drain, release late, close");
    REQUIRE(link->unsettled.size() == 1);
    const std::weak_ptr<const MessageContent> kept =
        link->unsettled.front()->message.shared_content();
    CHECK_FALSE(kept.expired());
    bench.advance(6s); // and neither is the close
    CHECK_FALSE(link->alive);
    CHECK(kept.expired());
}

TEST_CASE("session driver: a settlement the broker refuses is told, and the session left") {
    ProcessorBench bench;
    bench.start();
    const auto link = bench.open();
    link->answers = false;
    bench.deliver(link, {"1"});
    const Failure failure{.code = Errc::server_busy};
    link->answer_settlement(&failure);
    bench.run();
    CHECK(bench.errors == "settlement server_busy");
    CHECK(bench.counters().settlement_failures == 1);
    CHECK(link->take_log() == "complete 1, drain");
}

TEST_CASE("session driver: R22: a handler runs under its message's deadline, a message past it is "
          "not handled") {
    ProcessorBench bench;
    Deadline seen;
    bench.handle = [&](MessageContext& /*context*/) {
        seen = OperationContext::current().deadline();
    };
    bench.start();
    const auto link = bench.open("a", 60s);
    const Deadline soon = Deadline::after(5s, bench.loop.now());
    link->deliver("1", soon);
    bench.run();
    CHECK(seen == soon);
    link->deliver("2", Deadline::at(bench.loop.now() - 1s));
    bench.run();
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "complete 1, dead-letter 2 (DeadlinePassed)");
    CHECK(bench.counters().messages_expired == 1);
}

TEST_CASE("session driver: R20: a handler's context has the lock as it is now, and no deadline "
          "where its message has none") {
    ProcessorBench bench{{.session_idle_timeout = 1h}};
    OperationContext seen;
    bench.handle = [&](MessageContext& /*context*/) { seen = OperationContext::current(); };
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1"});
    CHECK(seen.deadline().is_never());
    CHECK(seen.lock_expires().time() == bench.loop.now() + 60s);
    bench.advance(50s);
    REQUIRE(link->answer_renewal(ports::LockGrant{.length = 60s}));
    bench.run();
    CHECK(seen.lock_expires().time() == bench.loop.now() + 60s);
    CHECK_FALSE(seen.stop().stop_requested());
    bench.advance(60s);
    CHECK(seen.stop().stop_requested());
}

TEST_CASE("session driver: R22: expired messages are discarded or handled by choice") {
    for (const ExpiredMessageAction action :
         {ExpiredMessageAction::discard, ExpiredMessageAction::handle}) {
        ProcessorBench bench{{.expired_message = action}};
        bench.start();
        const auto link = bench.open();
        link->deliver("1", Deadline::at(bench.loop.now() - 1s));
        bench.run();
        CHECK(link->take_log() == "complete 1");
        CHECK(bench.handled == (action == ExpiredMessageAction::handle ? "1" : ""));
    }
}

TEST_CASE("session driver: R23: credit follows the budget, each session may have one message") {
    ProcessorBench bench{{.max_concurrent_sessions = 3,
                          .prefetch = 50,
                          .max_buffered_bytes = std::size_t{64} << 20U}};
    bench.holds = true;
    bench.start();
    const auto a = bench.open("a");
    CHECK(a->credit == 50);
    const auto b = bench.open("b");
    CHECK(b->credit == 10); // a MiB each until sizes are known, and what may come with an accept
    const auto c = bench.open("c");
    CHECK(c->credit == 4);
    bench.deliver(c, {"1"});
    CHECK(bench.processor->describe_here().buffered_bytes == 100);
}

TEST_CASE(
    "session driver: a session whose broker is far away has more fetched ahead, and says so") {
    ProcessorBench bench{{.session_idle_timeout = 1h}};
    bench.start();
    const auto link = bench.open();
    const auto window = [&] { return bench.processor->describe_here().slots.at(0).window; };
    CHECK(window() == 32);
    for (const std::uint32_t wanted : {32U, 64U, 128U, 256U}) {
        for (std::uint32_t credit = link->credit; credit != 0; --credit) {
            link->deliver("x"); // the broker has messages without end
        }
        bench.run();
        CHECK(window() == wanted);
        CHECK(link->credit > wanted / 2);
        bench.advance(50ms); // on their way
    }
    bench.deliver(link, {"x"}); // and then it has no more for long
    bench.advance(10s);
    bench.deliver(link, {"x"});
    CHECK(window() == 256);
}

TEST_CASE("session driver: on_session_open comes before messages, on_session_close after the last, "
          "with the reason") {
    ProcessorBench bench;
    std::string order;
    bench.handlers.session_open = [&](SessionContext& session) {
        order += "open " + session.session_id() + " " + session.entity();
    };
    bench.handlers.session_close = [&](SessionContext&, CloseReason reason) {
        order += ", close " + std::string{to_string(reason)};
    };
    bench.handle = [&](MessageContext& context) {
        order += ", " + std::string{context.message().text()};
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.advance(2s);
    CHECK(order == "open a orders, 1, close idle");
    CHECK(link->take_log() == "complete 1, drain, close");
}

TEST_CASE(
    "session driver: R17, R25: an on_session_open that throws parks its session off its slot") {
    ProcessorBench bench;
    bench.handlers.session_open = [](SessionContext& session) {
        if (session.session_id() == "bad") {
            throw std::runtime_error{"no"};
        }
    };
    bench.start();
    const auto link = bench.open("bad");
    CHECK(bench.errors == "session_open handler_failed");
    CHECK(link->take_log() == "drain");
    CHECK(bench.endpoint.accepts.size() == 1); // the slot takes the next session at once
    CHECK(bench.processor->describe_here().parked.size() == 1);
    const auto good = bench.open("good");
    bench.deliver(good, {"1"});
    CHECK(bench.handled == "1");
    bench.advance(100ms);
    CHECK(link->take_log() == "close");
}

TEST_CASE("session driver: R17: the wait of a session grows while its on_session_open throws") {
    ProcessorBench bench{{.session_idle_timeout = 0s}};
    bool fails = true;
    bench.handlers.session_open = [&fails](SessionContext&) {
        if (fails) {
            throw std::runtime_error{"no"};
        }
    };
    bench.start();
    const auto wait_of = [&bench] {
        const auto link = bench.open();
        const TimePoint opened = bench.loop.now();
        while (link->take_log().find("close") == std::string::npos) {
            bench.advance(1ms);
        }
        return bench.loop.now() - opened;
    };
    Duration least = 50ms;
    for (int i = 0; i < 5; ++i) {
        const Duration waited = wait_of();
        CHECK(waited >= least);
        CHECK(waited <= least * 2 + 1ms);
        least *= 2;
    }
    fails = false;
    CHECK(wait_of() <= 1ms); // and the count begins anew
    fails = true;
    CHECK(wait_of() <= 101ms);
}

TEST_CASE("session driver: an on_session_close that throws is told and changes nothing") {
    ProcessorBench bench;
    bench.handlers.session_close = [](SessionContext&, CloseReason) {
        throw std::runtime_error{"no"};
    };
    bench.start();
    const auto link = bench.open();
    bench.advance(2s);
    CHECK(bench.errors == "session_close handler_failed");
    CHECK(link->take_log() == "drain, close");
}

TEST_CASE("session driver: an asynchronous handler that throws before it starts has failed") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    bench.handlers.start_message = [](MessageContext&, const Completion&) {
        throw std::runtime_error{"no"};
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK(link->take_log() == "dead-letter 1 (HandlerFailed)");
}

TEST_CASE("session driver: release asks to leave after what runs") {
    ProcessorBench bench;
    bench.handle = [](MessageContext& context) { context.session().release(); };
    bench.handlers.session_close = [&](SessionContext&, CloseReason reason) {
        CHECK(reason == CloseReason::released);
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK(link->take_log() == "complete 1, drain, close");
}

TEST_CASE("session driver: receive-and-delete settles nothing and retries in place") {
    ProcessorBench bench{
        {.receive_and_delete = true,
         .failure_policy = FailurePolicy::abandon().after_attempts(2, {.min = 10ms, .max = 10ms})}};
    bench.handle = throws_at("1");
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    bench.advance(100ms);
    CHECK(bench.handled == "1 1 2");
    CHECK(link->take_log().empty());
}

TEST_CASE("session driver: receive-and-delete handles all that arrived before it leaves") {
    ProcessorBench bench{
        {.receive_and_delete = true,
         .failure_policy = FailurePolicy::abandon().after_attempts(2, {.min = 1h, .max = 1h})}};
    bench.handle = throws;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    CHECK(bench.handled == "1");
    bench.stop(10s);
    CHECK(bench.handled == "1 2"); // no more tries, but each once
    CHECK(link->take_log() == "drain, close");
}

namespace {

/// The locks of messages, whose broker refuses or grants a renewal at once.
class AnsweringLocks final : public ports::MessageLocks {
public:
    ports::RequestId renew(std::vector<std::uint64_t> tags, Deadline, Handler handler) override {
        std::vector<core::Result<ports::LockGrant>> answers;
        for (const std::uint64_t tag : tags) {
            if (tag == refused) {
                answers.emplace_back(Failure{.code = Errc::lock_lost});
            } else {
                answers.emplace_back(ports::LockGrant{.length = 10s});
            }
        }
        pending.push_back([handler = std::move(handler), answers] { handler(answers); });
        return pending.size();
    }
    void answer() {
        for (const auto& each : std::exchange(pending, {})) {
            each();
        }
    }

    std::uint64_t refused{0};
    std::vector<std::function<void()>> pending{};
};

/// The link to an entity without sessions, whose messages have locks of 10 s.
std::shared_ptr<test::ScriptedLink> open_entity(ProcessorBench& bench, AnsweringLocks& locks) {
    auto link = std::make_shared<test::ScriptedLink>("", std::nullopt);
    link->own_lock = 10s;
    link->own_locks = &locks;
    bench.links.push_back(link);
    bench.endpoint.answer(ports::SessionLinkPtr{std::make_unique<test::LinkToScript>(link)});
    bench.run();
    return link;
}

} // namespace

TEST_CASE("session driver: R13: of messages with own locks one is lost, and the others go on") {
    ProcessorBench bench{
        {.max_concurrent_calls_per_session = 3, .session_idle_timeout = Duration::max()}};
    bench.scope = ports::Scope::entity;
    bench.holds = true;
    bench.start();
    AnsweringLocks locks;
    locks.refused = 2;
    const auto link = open_entity(bench, locks);
    bench.deliver(link, {"1", "2"});
    REQUIRE(bench.started.size() == 2);
    bench.advance(5s);
    REQUIRE(locks.pending.size() == 1);
    locks.answer();
    bench.run();
    CHECK(bench.errors == "lock_renewal lock_lost");
    MessageContext& kept = *bench.started[0].context;
    MessageContext& lost = *bench.started[1].context;
    CHECK_FALSE(kept.stop_token().stop_requested());
    CHECK(lost.stop_token().stop_requested());
    CHECK(test::code_of([&] { lost.complete(); }) == Errc::lock_lost);
    bench.advance(5s); // the other lock is renewed again
    locks.answer();
    bench.finish_all();
    bench.run();
    CHECK(link->take_log() == "complete 1");
    CHECK(link->alive);
}

TEST_CASE("session driver: R13: a message that waits is forgotten when its own lock is lost") {
    ProcessorBench bench{{.max_concurrent_calls_per_session = 2,
                          .session_idle_timeout = Duration::max(),
                          .failure_policy = FailurePolicy::abandon_after({.min = 1h, .max = 1h})}};
    bench.scope = ports::Scope::entity;
    bench.handle = [](MessageContext&) { throw std::runtime_error{"no"}; };
    bench.start();
    AnsweringLocks locks;
    locks.refused = 1;
    const auto link = open_entity(bench, locks);
    bench.deliver(link, {"1", "2"});
    CHECK(bench.slot().in_flight == 2);
    bench.advance(5s);
    REQUIRE(locks.pending.size() == 1);
    locks.answer();
    bench.run();
    CHECK(bench.slot().in_flight == 1);
    CHECK(bench.counters().messages_lost == 1);
    bench.stop(10s);
    CHECK(link->take_log() == "drain, abandon 2, close"); // the other one is not settled in vain
}

TEST_CASE(
    "session driver: locks of messages that are too short for the way to the broker are told") {
    std::vector<std::string> told;
    set_log_sink([&told](const LogRecord& record) {
        if (record.event == "doubtful_setting") {
            told.emplace_back(record.text);
        }
    });
    {
        ProcessorBench bench{
            {.max_concurrent_calls_per_session = 1, .session_idle_timeout = Duration::max()}};
        bench.scope = ports::Scope::entity;
        bench.holds = true;
        bench.start();
        AnsweringLocks locks;
        const auto link = open_entity(bench, locks);
        bench.deliver(link, {"1"});
        bench.advance(5s); // it is renewed
        bench.advance(3s);
        REQUIRE(locks.pending.size() == 1);
        locks.answer();
        bench.finish_all();
        bench.stop(10s);
    }
    set_log_sink(nullptr);
    REQUIRE(told.size() == 1);
    CHECK(told[0].find("last 10000 ms, and the broker took 3000 ms") != std::string::npos);
}

TEST_CASE("session driver: a message whose own lock is about to end is not started") {
    ProcessorBench bench{
        {.max_concurrent_calls_per_session = 1, .session_idle_timeout = Duration::max()}};
    bench.scope = ports::Scope::entity;
    bench.holds = true;
    bench.start();
    AnsweringLocks locks;
    const auto link = open_entity(bench, locks);
    bench.deliver(link, {"1", "2"});
    REQUIRE(bench.started.size() == 1);
    bench.advance(9500ms); // nothing was answered
    bench.finish_all();
    bench.run();
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "complete 1");
}
