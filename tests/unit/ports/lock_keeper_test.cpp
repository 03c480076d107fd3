// SPDX-License-Identifier: MIT
#include "ports/lock_keeper.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using ports::LockGrant;
using ports::LockKeeper;
using Phase = LockKeeper::Phase;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};

LockKeeper granted(Duration length) {
    LockKeeper lock;
    lock.granted(t0, {.length = length});
    return lock;
}

std::string words(const ports::LockActions& actions) {
    std::string text;
    for (const auto& [set, name] :
         {std::pair{actions.lost, "lost"}, std::pair{actions.warn, "warn"},
          std::pair{actions.renew, "renew"}}) {
        if (set) {
            text.append(text.empty() ? "" : " ").append(name);
        }
    }
    return text;
}

const Failure busy{.code = Errc::server_busy};
const Failure taken{.code = Errc::lock_lost};

} // namespace

TEST_CASE("lock keeper: R12: its length counts from the instant it was asked for, a slow answer "
          "shortens it") {
    LockKeeper lock = granted(60s);
    CHECK(lock.expires().time() == t0 + 60s);
    lock.granted(t0 + 50s, {.length = 60s}); // answered whenever
    CHECK(lock.expires().time() == t0 + 110s);
}

TEST_CASE("lock keeper: R11: renewed ten seconds before its end, a short one at half its length") {
    struct Row {
        Duration length;
        Duration renew_after;
    };
    for (const Row row :
         {Row{60s, 50s}, Row{30s, 20s}, Row{20s, 10s}, Row{5s, 2500ms}, Row{100ms, 50ms}}) {
        CAPTURE(row.length.count());
        LockKeeper lock = granted(row.length);
        CHECK(words(lock.look(t0, true)).empty());
        CHECK(lock.next() == t0 + row.renew_after);
        CHECK(words(lock.look(t0 + row.renew_after - 1ns, true)).empty());
        CHECK(words(lock.look(t0 + row.renew_after, true)) == "renew");
        CHECK(lock.phase() == Phase::renewing);
    }
}

TEST_CASE("lock keeper: R13: the holder is warned before the end, once") {
    struct Row {
        Duration length;
        Duration margin;
    };
    for (const Row row : {Row{60s, 2s}, Row{20s, 2s}, Row{5s, 500ms}, Row{100ms, 10ms}}) {
        CAPTURE(row.length.count());
        LockKeeper lock = granted(row.length);
        const TimePoint warning = t0 + row.length - row.margin;
        CHECK(lock.last_start() == warning);
        CHECK(words(lock.look(warning - 1ns, true)) == "renew"); // and never answered
        CHECK(lock.next() == warning);
        CHECK(words(lock.look(warning, true)) == "warn");
        CHECK(lock.phase() == Phase::warned);
        CHECK(words(lock.look(warning, true)).empty());
        CHECK(lock.next() == t0 + row.length);
        CHECK(words(lock.look(t0 + row.length, true)) == "lost");
        CHECK(words(lock.look(t0 + row.length, true)).empty());
        CHECK(lock.next() == TimePoint::max());
    }
}

TEST_CASE("lock keeper: R13: found late, the end itself is told at once") {
    LockKeeper lock = granted(60s);
    CHECK(words(lock.look(t0 + 61s, true)) == "lost");
}

TEST_CASE("lock keeper: one renewal at a time, an answer begins the next round") {
    LockKeeper lock = granted(60s);
    CHECK(words(lock.look(t0 + 50s, true)) == "renew");
    CHECK(words(lock.look(t0 + 51s, true)).empty());
    CHECK(words(lock.answered(t0 + 50s, t0 + 51s, LockGrant{.length = 60s})).empty());
    CHECK(lock.phase() == Phase::held);
    CHECK(lock.next() == t0 + 100s);
    CHECK(words(lock.look(t0 + 52s, true)).empty());
    CHECK(lock.next() == t0 + 100s);
}

TEST_CASE("lock keeper: R13: a renewal that fails is tried again until the warning") {
    LockKeeper lock = granted(60s);
    int renewals = 0;
    TimePoint now = t0;
    for (;;) {
        const ports::LockActions actions = lock.look(now, true);
        if (actions.warn) {
            break;
        }
        if (actions.renew) {
            ++renewals;
            CHECK(words(lock.answered(now, now, busy)).empty());
        }
        REQUIRE(lock.next() > now);
        now = lock.next();
    }
    CHECK(now == t0 + 58s);
    CHECK(renewals == 3); // at 50, 53 and 56 s
}

TEST_CASE("lock keeper: R17: renewals that fail are spaced for short locks too") {
    LockKeeper lock = granted(100ms);
    CHECK(words(lock.look(t0 + 50ms, true)) == "renew");
    CHECK(words(lock.answered(t0 + 50ms, t0 + 50ms, busy)).empty());
    CHECK(lock.next() == t0 + 90ms); // the warning comes first
    lock = granted(1000s);
    CHECK(words(lock.look(t0 + 990s, true)) == "renew");
    CHECK(words(lock.answered(t0 + 990s, t0 + 990s, busy)).empty());
    CHECK(lock.next() == t0 + 995s);
}

TEST_CASE("lock keeper: not renewed while it may not be, and again when it may") {
    LockKeeper lock = granted(60s);
    CHECK(words(lock.look(t0 + 55s, false)).empty());
    CHECK(lock.next() == t0 + 58s);
    CHECK(words(lock.look(t0 + 55s, true)) == "renew");
    CHECK(words(lock.look(t0 + 58s, true)) == "warn");
    CHECK(words(lock.look(t0 + 58s, true)).empty()); // warned: given up
}

TEST_CASE("lock keeper: a grant after the warning does not take the warning back") {
    LockKeeper lock = granted(60s);
    CHECK(words(lock.look(t0 + 50s, true)) == "renew");
    CHECK(words(lock.look(t0 + 58s, true)) == "warn");
    CHECK(words(lock.answered(t0 + 50s, t0 + 59s, LockGrant{.length = 60s})).empty());
    CHECK(lock.phase() == Phase::warned);
    CHECK(lock.next() == t0 + 110s);
    CHECK(words(lock.look(t0 + 100s, true)).empty()); // and it is not renewed
}

TEST_CASE("lock keeper: R13: a lock that the broker took is lost at once, and once") {
    LockKeeper lock = granted(60s);
    CHECK(words(lock.look(t0 + 50s, true)) == "renew");
    CHECK(words(lock.answered(t0 + 50s, t0 + 51s, taken)) == "lost");
    CHECK(words(lock.answered(t0 + 50s, t0 + 51s, taken)).empty());
    CHECK(words(lock.answered(t0 + 50s, t0 + 51s, busy)).empty());
    CHECK(words(lock.answered(t0 + 50s, t0 + 51s, LockGrant{.length = 60s})).empty());
    CHECK(lock.phase() == Phase::lost);
    CHECK(lock.next() == TimePoint::max());
}

TEST_CASE("lock keeper: R12: an uncertain lock is renewed at once, once") {
    LockKeeper lock = granted(60s);
    lock.became_uncertain(t0 + 5s);
    CHECK(lock.next() == t0 + 5s);
    CHECK(words(lock.look(t0 + 5s, true)) == "renew");
    lock.became_uncertain(t0 + 6s);
    CHECK(words(lock.look(t0 + 6s, true)).empty());
    lock.granted(t0 + 5s, {.length = 30s});
    CHECK(lock.next() == t0 + 25s);
    lock.became_uncertain(t0 + 8s);
    CHECK(words(lock.look(t0 + 8s, false)).empty()); // not where it may not be renewed
    LockKeeper endless;
    endless.granted(t0, {});
    endless.became_uncertain(t0);
    CHECK(endless.next() == TimePoint::max());
}

TEST_CASE("lock keeper: without an end there is nothing to do") {
    LockKeeper lock;
    lock.granted(t0, {});
    CHECK(lock.phase() == Phase::endless);
    CHECK(lock.expires().is_never());
    CHECK(lock.last_start() == TimePoint::max());
    CHECK(words(lock.look(t0 + 24h * 365, true)).empty());
    CHECK(lock.next() == TimePoint::max());
    lock.granted(t0, {.length = Duration::max()});
    CHECK(words(lock.look(t0 + 24h, true)).empty());
    CHECK(lock.next() == TimePoint::max());
}

TEST_CASE("lock keeper: R12: an accept that was answered fast counts from the question") {
    LockKeeper lock;
    lock.accepted(t0, t0 + 1s, {.length = 60s});
    CHECK(lock.expires().time() == t0 + 60s);
    CHECK(lock.next() == t0 + 50s);
}

TEST_CASE(
    "lock keeper: R12: an accept that waited at the broker is measured by a renewal at once") {
    LockKeeper lock;
    lock.accepted(t0, t0 + 45s, {.length = 60s});
    CHECK(lock.expires().time() == t0 + 45s - 2s + 60s);
    CHECK(lock.next() == t0 + 45s);
    CHECK(words(lock.look(t0 + 45s, true)) == "renew");
    lock.granted(t0 + 45s, {.length = 60s});
    CHECK(lock.expires().time() == t0 + 105s);
    CHECK(words(lock.look(t0 + 45s, true)).empty());

    LockKeeper endless;
    endless.accepted(t0, t0 + 45s, {});
    CHECK(words(endless.look(t0 + 45s, true)).empty());
    CHECK(endless.next() == TimePoint::max());
}

TEST_CASE("lock keeper: every input in every phase") {
    const std::vector<std::function<LockKeeper()>> reach{
        [] {
            LockKeeper lock;
            lock.granted(t0, {});
            return lock;
        },
        [] { return granted(60s); },
        [] {
            LockKeeper lock = granted(60s);
            CHECK(lock.look(t0 + 50s, true).renew);
            return lock;
        },
        [] {
            LockKeeper lock = granted(60s);
            CHECK(lock.look(t0 + 58s, true).warn);
            return lock;
        },
        [] {
            LockKeeper lock = granted(60s);
            CHECK(lock.look(t0 + 60s, true).lost);
            return lock;
        },
    };
    using Actions = ports::LockActions;
    const std::vector<std::pair<std::string, std::function<Actions(LockKeeper&)>>> inputs{
        {"look early", [](LockKeeper& lock) { return lock.look(t0 + 10s, true); }},
        {"renewal due", [](LockKeeper& lock) { return lock.look(t0 + 51s, true); }},
        {"may not renew", [](LockKeeper& lock) { return lock.look(t0 + 51s, false); }},
        {"last start", [](LockKeeper& lock) { return lock.look(t0 + 59s, true); }},
        {"end", [](LockKeeper& lock) { return lock.look(t0 + 61s, true); }},
        {"granted",
         [](LockKeeper& lock) {
             return lock.answered(t0 + 50s, t0 + 52s, LockGrant{.length = 60s});
         }},
        {"refused", [](LockKeeper& lock) { return lock.answered(t0 + 50s, t0 + 52s, busy); }},
        {"taken", [](LockKeeper& lock) { return lock.answered(t0 + 50s, t0 + 52s, taken); }},
        {"became uncertain",
         [](LockKeeper& lock) {
             lock.became_uncertain(t0 + 5s);
             return Actions{};
         }},
    };
    struct Cell {
        Phase phase;
        const char* actions;
        Duration next; // after t0; zero: never
    };
    constexpr Duration never{};
    const Cell expected[5][9] = {
        {{Phase::endless, "", never},
         {Phase::endless, "", never},
         {Phase::endless, "", never},
         {Phase::endless, "", never},
         {Phase::endless, "", never},
         {Phase::held, "", 100s},
         {Phase::endless, "", never},
         {Phase::lost, "lost", never},
         {Phase::endless, "", never}},
        {{Phase::held, "", 50s},
         {Phase::renewing, "renew", 58s},
         {Phase::held, "", 58s},
         {Phase::warned, "warn", 60s},
         {Phase::lost, "lost", never},
         {Phase::held, "", 100s},
         {Phase::held, "", 50s},
         {Phase::lost, "lost", never},
         {Phase::held, "", 5s}},
        {{Phase::renewing, "", 58s},
         {Phase::renewing, "", 58s},
         {Phase::renewing, "", 58s},
         {Phase::warned, "warn", 60s},
         {Phase::lost, "lost", never},
         {Phase::held, "", 100s},
         {Phase::held, "", 55s},
         {Phase::lost, "lost", never},
         {Phase::renewing, "", 58s}},
        {{Phase::warned, "", 60s},
         {Phase::warned, "", 60s},
         {Phase::warned, "", 60s},
         {Phase::warned, "", 60s},
         {Phase::lost, "lost", never},
         {Phase::warned, "", 110s},
         {Phase::warned, "", 60s},
         {Phase::lost, "lost", never},
         {Phase::warned, "", 60s}},
        {{Phase::lost, "", never},
         {Phase::lost, "", never},
         {Phase::lost, "", never},
         {Phase::lost, "", never},
         {Phase::lost, "", never},
         {Phase::lost, "", never},
         {Phase::lost, "", never},
         {Phase::lost, "", never},
         {Phase::lost, "", never}},
    };
    std::vector<std::string> names;
    for (const auto& [name, input] : inputs) {
        names.push_back(name);
    }
    test::PhaseTable table{
        "lock keeper", {"endless", "held", "renewing", "warned", "lost"}, std::move(names)};
    for (std::size_t phase = 0; phase < reach.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(phase);
            CAPTURE(inputs[input].first);
            LockKeeper lock = reach[phase]();
            REQUIRE(static_cast<std::size_t>(lock.phase()) == phase);
            const Cell& cell = expected[phase][input];
            CHECK(words(inputs[input].second(lock)) == cell.actions);
            CHECK(lock.phase() == cell.phase);
            CHECK(lock.next() == (cell.next == never ? TimePoint::max() : t0 + cell.next));
            table.reached(phase, input);
        }
    }
    table.print();
    CHECK(table.missing().empty());
}

TEST_CASE("lock keeper: a renewal is late when half of its time is over") {
    struct Row {
        Duration length;
        Duration late_after;
    };
    for (const Row row : {Row{60s, 55s}, Row{10s, 7500ms}}) {
        CAPTURE(row.length.count());
        LockKeeper lock = granted(row.length);
        CHECK_FALSE(lock.is_late(t0 + row.length)); // nobody was asked
        REQUIRE(words(lock.look(t0 + row.late_after - 1s, true)) == "renew");
        CHECK_FALSE(lock.is_late(t0 + row.late_after));
        CHECK(lock.is_late(t0 + row.late_after + 1ns));
        lock.granted(t0 + row.late_after, {.length = row.length});
        CHECK_FALSE(lock.is_late(t0 + row.late_after + 1ns));
    }
}
