// SPDX-License-Identifier: MIT
// The crash guard of a processor on every port that keeps states of sessions.
#include <stdexcept>
#include <utility>

#include "contract/processor_on_port.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

SessionProcessorOptions guarded(std::uint32_t deaths, bool every_session = false) {
    return {.max_concurrent_sessions = 1,
            .session_idle_timeout = 1s,
            .max_lock_renewal = 1ms, // a handler that does not end loses the lock
            .failure_policy = FailurePolicy::abandon_at_once(),
            .crash_guard = CrashGuard{.deaths = deaths, .every_session = every_session},
            .error_backoff = {.min = 10ms, .max = 20ms}};
}

/// Also where time stands still unless it is told to pass.
template <typename Done>
bool in_time(PortCase& t, ProcessorOnPort& processor, Done done) {
    for (int turns = 0; turns < 100; ++turns) {
        if (processor.until(done)) {
            return true;
        }
        t.fixture.pass(100ms);
    }
    return false;
}

struct Seen {
    std::string handled{};
    Completion end{}; ///< of a handler that runs

    /// "kills" never ends by itself.
    detail::processor::Handlers handlers() {
        detail::processor::Handlers made;
        made.start_message = [this](MessageContext& context, Completion completion) {
            handled += (handled.empty() ? "" : " ") + std::string{context.message().text()};
            if (context.message().text() == "kills") {
                end = std::move(completion);
            } else {
                completion.done();
            }
        };
        return made;
    }
};

/// Handles until "next" is done. Each "kills" costs a holder its lock.
void handle_all(PortCase& t, ProcessorOnPort& processor, Seen& seen) {
    for (int turns = 0; turns < 10 && !seen.handled.ends_with("next"); ++turns) {
        CHECK(in_time(t, processor, [&] { return seen.end || seen.handled.ends_with("next"); }));
        if (seen.end) {
            t.fixture.pass(5100ms + t.fixture.lag());
            std::exchange(seen.end, {}).done();
        }
    }
}

std::optional<std::string> state_of(PortCase& t, RecordingLink& link) {
    return t
        .finish<std::optional<std::string>>(
            [&](auto handler) { link.link().get_state({}, std::move(handler)); })
        .result()
        .value();
}

} // namespace

PORT_CASE("crash guard: a broker without session states is refused by name") {
    PortCase t{port};
    const auto make = [&] { ProcessorOnPort{t, guarded(3), Seen{}.handlers()}.stop(); };
    if (t.has(ports::Capability::session_state)) {
        CHECK_NOTHROW(make());
    } else {
        CHECK_THROWS_WITH_AS(make(), doctest::Contains("session"), Error);
    }
}

PORT_CASE("crash guard: a message is out when it has cost so many holders, and the rest goes on") {
    PortCase t{port, {.lock_duration = 5s}};
    NEEDS(t, session_state);
    NEEDS(t, lock_renewal);
    NEEDS(t, dead_letter);
    t.send("a", {"kills", "next"});
    {
        const auto link = t.hold("a");
        t.finish<core::Done>(
            [&](auto handler) { link->link().set_state("mine", {}, std::move(handler)); });
        t.close(*link);
    }
    Seen seen;
    {
        ProcessorOnPort processor{t, guarded(2), seen.handlers()};
        handle_all(t, processor, seen);
    }
    CHECK(seen.handled == "kills kills next");
    const auto dead = t.peek(t.fixture.dead_letters_of(t.entity));
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].text() == "kills");
    CHECK(dead[0].facts().dead_letter->reason == "ConsumerLost");
    t.send("a", {"more"});
    const auto link = t.hold("a");
    CHECK(state_of(t, *link) == "mine");
}

PORT_CASE("crash guard: with every_session the broker need not tell who was lost") {
    PortCase t{port, {.lock_duration = 5s}};
    NEEDS(t, session_state);
    NEEDS(t, lock_renewal);
    NEEDS(t, dead_letter);
    t.send("a", {"kills", "next"});
    Seen seen;
    ProcessorOnPort processor{t, guarded(3, true), seen.handlers()};
    handle_all(t, processor, seen);
    processor.stop();
    CHECK(seen.handled == "kills kills kills next");
}

PORT_CASE("crash guard: a handler that throws is no death") {
    PortCase t{port};
    NEEDS(t, session_state);
    t.send("a", {"1"});
    int handled = 0;
    detail::processor::Handlers handlers;
    handlers.message = [&](MessageContext&) {
        if (++handled < 5) {
            throw std::runtime_error{"scripted"};
        }
    };
    {
        ProcessorOnPort processor{t, guarded(2), std::move(handlers)};
        CHECK(in_time(t, processor, [&] { return handled == 5; }));
    }
    CHECK(handled == 5);
    CHECK(t.peek(t.fixture.dead_letters_of(t.entity)).empty());
    t.send("a", {"2"});
    CHECK_FALSE(state_of(t, *t.hold("a")));
}
