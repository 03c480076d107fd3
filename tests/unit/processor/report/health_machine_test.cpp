// SPDX-License-Identifier: MIT
#include "processor/report/health_machine.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::detail::processor;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint start{1h};

/// A look at what `show` gives, at each second.
struct HealthLooks {
    HealthMachine machine{{}, 60s};
    TimePoint now{start};

    template <typename Show>
    Health look(Show show) {
        machine.begin(now);
        show(machine);
        return machine.end();
    }
    /// Of one cause; fails if there is another one.
    template <typename Show>
    bool has(HealthCause cause, Show show) {
        const Health health = look(show);
        CHECK(health.reasons.size() <= 1);
        return !health.reasons.empty() && health.reasons.front().cause == cause;
    }
};

SessionSnapshot signs_of_session(TimePoint progress_at) {
    static const std::string entity = "orders";
    static const std::string session_id = "ada";
    return {.entity = entity, .session_id = session_id, .progress_at = progress_at};
}

Refusal refused(Errc code, TimePoint since) {
    return {.failure = {.code = code, .detail = "told"}, .since = since};
}

} // namespace

TEST_CASE("health machine: nothing to see is healthy") {
    HealthLooks looks;
    const Health health = looks.look([](HealthMachine& machine) {
        machine.connections({{.broker = "b:1", .open = true}});
        machine.target("orders", nullptr);
        machine.slot({.since = start});
        machine.session(signs_of_session(start));
        machine.buffer(99, 100);
    });
    CHECK(health.state == Health::State::healthy);
    CHECK(health.reasons.empty());
}

TEST_CASE("health machine: a broker is silent that sends nothing for so long") {
    HealthLooks looks;
    std::uint64_t received = 5;
    const auto show = [&](HealthMachine& machine) {
        machine.connections({{.broker = "b:1", .open = true, .received = received}});
    };
    CHECK_FALSE(looks.has(HealthCause::broker_silent, show));
    looks.now += 59s;
    CHECK_FALSE(looks.has(HealthCause::broker_silent, show));
    looks.now += 1s;
    CHECK(looks.has(HealthCause::broker_silent, show));
    CHECK(looks.look(show).reasons.front().since == 60s);
    received = 6;
    CHECK_FALSE(looks.has(HealthCause::broker_silent, show));
    looks.now += 59s;
    CHECK_FALSE(looks.has(HealthCause::broker_silent, show));
}

TEST_CASE("health machine: a connection that is down says nothing of silence") {
    HealthLooks looks;
    const auto show = [&](HealthMachine& machine) {
        machine.connections({{.broker = "b:1", .down_since = start, .last_failure = "refused"}});
    };
    looks.now += 4s;
    CHECK_FALSE(looks.has(HealthCause::not_connected, show));
    looks.now += 1s;
    CHECK(looks.has(HealthCause::not_connected, show));
    looks.now += 10min;
    const Health health = looks.look(show);
    CHECK(health.state == Health::State::degraded);
    REQUIRE(health.reasons.size() == 1);
    CHECK(health.reasons.front().detail == "no connection to 'b:1': refused");
}

TEST_CASE("health machine: a silent connection that is given up does not look healthy meanwhile") {
    HealthLooks looks;
    const auto open = [&](std::uint64_t received) {
        return [=](HealthMachine& machine) {
            machine.connections({{.open = true, .received = received}});
        };
    };
    static_cast<void>(looks.look(open(5)));
    looks.now += 60s;
    CHECK(looks.has(HealthCause::broker_silent, open(5)));
    looks.now += 60s;
    const TimePoint lost_at = looks.now;
    CHECK(looks.has(HealthCause::not_connected, [&](HealthMachine& machine) {
        machine.connections({{.down_since = lost_at}});
    }));
    looks.now += 1s;
    CHECK(looks.look(open(1)).reasons.empty());
    looks.now += 59s;
    CHECK(looks.look(open(1)).reasons.empty());
}

TEST_CASE("health machine: a connection that is made again has its time again") {
    HealthLooks looks;
    static_cast<void>(looks.look(
        [](HealthMachine& machine) { machine.connections({{.open = true, .received = 5}}); }));
    looks.now += 50s;
    static_cast<void>(looks.look(
        [](HealthMachine& machine) { machine.connections({{.down_since = start + 49s}}); }));
    looks.now += 10s;
    CHECK_FALSE(looks.has(HealthCause::broker_silent, [](HealthMachine& machine) {
        machine.connections({{.open = true, .received = 5}});
    }));
}

TEST_CASE("health machine: a refusal for good counts at once, another one after its bound") {
    HealthLooks looks;
    const Refusal final = refused(Errc::entity_not_found, start);
    const Refusal busy = refused(Errc::server_busy, start);
    const auto show = [&](const Refusal& refusal) {
        return [&](HealthMachine& machine) { machine.target("orders", &refusal); };
    };
    CHECK(looks.has(HealthCause::accept_refused, show(final)));
    CHECK(looks.look(show(final)).state == Health::State::failed);
    CHECK_FALSE(looks.has(HealthCause::accept_refused, show(busy)));
    looks.now += 5s;
    CHECK(looks.has(HealthCause::accept_refused, show(busy)));
    CHECK(looks.look(show(busy)).state == Health::State::degraded);
}

TEST_CASE("health machine: one entity of two that is refused for good is degraded") {
    HealthLooks looks;
    const Refusal final = refused(Errc::unauthorized, start);
    const Health health = looks.look([&](HealthMachine& machine) {
        machine.target("a", &final);
        machine.target("b", nullptr);
    });
    CHECK(health.state == Health::State::degraded);
    CHECK(health.reasons.front().entity == "a");
}

TEST_CASE("health machine: an accept without an answer counts at once") {
    HealthLooks looks;
    Refusal unanswered = refused(Errc::timeout, start);
    unanswered.unanswered = true;
    CHECK(looks.has(HealthCause::accept_unanswered,
                    [&](HealthMachine& machine) { machine.target("orders", &unanswered); }));
}

TEST_CASE("health machine: a named session that another receiver holds is no fault") {
    HealthLooks looks;
    const Refusal elsewhere = refused(Errc::session_locked_elsewhere, start);
    looks.now += 1h;
    CHECK(looks.look([&](HealthMachine& machine) { machine.target("orders", &elsewhere); })
              .reasons.empty());
}

TEST_CASE("health machine: where there is no connection that says why accepts fail") {
    HealthLooks looks;
    const Refusal refusal = refused(Errc::connection_refused, start);
    looks.now += 1min;
    CHECK(looks.has(HealthCause::not_connected, [&](HealthMachine& machine) {
        machine.target("orders", &refusal);
        machine.connections({{.broker = "b:1", .down_since = start}});
    }));
}

TEST_CASE("health machine: a slot whose sessions end by faults, until one goes well") {
    HealthLooks looks;
    const auto show = [&](std::uint32_t failures, TimePoint since, bool rests) {
        return [=](HealthMachine& machine) {
            machine.slot({.failures = failures, .since = since, .rests = rests});
        };
    };
    CHECK_FALSE(looks.has(HealthCause::sessions_lost, show(2, start, true)));
    CHECK(looks.has(HealthCause::sessions_lost, show(3, start, true)));
    looks.now += 999ms;
    CHECK(looks.has(HealthCause::sessions_lost, show(3, start, false)));
    looks.now += 1ms;
    CHECK_FALSE(looks.has(HealthCause::sessions_lost, show(3, start, false)));
}

TEST_CASE("health machine: a slot that waits for nothing is a defect") {
    HealthLooks looks;
    CHECK(looks.has(HealthCause::internal_error,
                    [](HealthMachine& machine) { machine.slot({.status = {}}); }));
}

TEST_CASE("health machine: slow handlers, busy workers, late answers") {
    HealthLooks looks;
    SessionSnapshot snapshot = signs_of_session(start);
    const auto show = [&](HealthMachine& machine) { machine.session(snapshot); };
    snapshot.running = 1;
    looks.now = start + 59s;
    CHECK_FALSE(looks.has(HealthCause::handler_slow, show));
    looks.now = start + 60s;
    CHECK(looks.has(HealthCause::handler_slow, show));
    snapshot.running = 0;
    CHECK(looks.look(show).reasons.empty());

    snapshot.awaits_worker = true;
    looks.now = start + 9s;
    CHECK_FALSE(looks.has(HealthCause::workers_busy, show));
    looks.now = start + 10s;
    CHECK(looks.has(HealthCause::workers_busy, show));
    snapshot.awaits_worker = false;

    snapshot.unanswered_since = start;
    looks.now = start + 9s;
    CHECK_FALSE(looks.has(HealthCause::settlement_unanswered, show));
    looks.now = start + 10s;
    CHECK(looks.has(HealthCause::settlement_unanswered, show));
    snapshot.unanswered_since = TimePoint::max();

    snapshot.renewal_late = true;
    CHECK(looks.has(HealthCause::renewal_late, show));
    snapshot.renewal_late = false;
    snapshot.parked = true;
    snapshot.progress_at = start + 1s;
    CHECK_FALSE(looks.has(HealthCause::sessions_parked, show));
    snapshot.progress_at = start;
    CHECK(looks.has(HealthCause::sessions_parked, show));
}

TEST_CASE("health machine: a bound without end is never reached") {
    HealthLooks looks{.machine = {{.handler_slow = Duration::max()}, 60s}};
    SessionSnapshot snapshot = signs_of_session(start);
    snapshot.running = 1;
    looks.now += 24h;
    CHECK(looks.look([&](HealthMachine& machine) { machine.session(snapshot); }).reasons.empty());
    looks.machine.begin(looks.now);
    CHECK(looks.machine.quiet_since() == looks.now - 10s);
}

TEST_CASE("health machine: the buffer is full for so long without a pause") {
    HealthLooks looks;
    const auto show = [](std::size_t bytes) {
        return [bytes](HealthMachine& machine) { machine.buffer(bytes, 100); };
    };
    CHECK(looks.look(show(100)).reasons.empty());
    looks.now += 9s;
    CHECK(looks.look(show(99)).reasons.empty());
    looks.now += 1s;
    CHECK(looks.look(show(100)).reasons.empty());
    looks.now += 10s;
    CHECK(looks.has(HealthCause::buffer_full, show(120)));
}

TEST_CASE("health machine: a misused Completion is told of for a minute") {
    HealthLooks looks;
    const auto show = [](std::uint64_t dropped, std::uint64_t repeated) {
        return [=](HealthMachine& machine) { machine.handlers(dropped, repeated); };
    };
    CHECK(looks.look(show(0, 0)).reasons.empty());
    CHECK(looks.has(HealthCause::handler_misused, show(1, 0)));
    looks.now += 59s;
    const Health health = looks.look(show(1, 0));
    CHECK(health.state == Health::State::degraded);
    CHECK(health.reasons.at(0).since == 59s);
    CHECK(health.reasons.at(0).detail == "1 handlers never ended, 0 ended again");
    looks.now += 1s;
    CHECK(looks.look(show(1, 0)).reasons.empty());
    CHECK(looks.has(HealthCause::handler_misused, show(1, 1)));
    looks.now += 30s;
    CHECK(looks.look(show(2, 1)).reasons.at(0).since == 30s);
    looks.now += 60s;
    CHECK(looks.look(show(2, 1)).reasons.empty());
}

TEST_CASE("health machine: clocks that are five seconds apart are told of, either way") {
    for (const Duration sign : {Duration{1}, Duration{-1}}) {
        HealthLooks looks;
        const auto show = [&](Duration ahead, bool open = true) {
            return [=](HealthMachine& machine) {
                machine.connections(
                    {{.broker = "b:1", .open = open, .broker_ahead = sign.count() * ahead}});
            };
        };
        CHECK_FALSE(looks.has(HealthCause::clocks_differ, show(4'999ms)));
        CHECK(looks.has(HealthCause::clocks_differ, show(5s)));
        looks.now += 3s;
        const Health health = looks.look(show(90s));
        REQUIRE(health.reasons.size() == 1);
        CHECK(health.state == Health::State::degraded);
        CHECK(health.reasons[0].since == 3s);
        CHECK(health.reasons[0].detail ==
              (sign.count() > 0 ? "the clock of 'b:1' is at least 90 s ahead of this host's"
                                : "the clock of 'b:1' is at least 90 s behind this host's"));
        CHECK_FALSE(looks.has(HealthCause::clocks_differ, show(0s)));
        looks.now += 3s;
        CHECK(looks.look(show(5s)).reasons.at(0).since == 0s); // anew
        CHECK_FALSE(looks.has(HealthCause::clocks_differ, show(5s, false)));
    }
}
