// SPDX-License-Identifier: MIT
#include "servicebus/lock_clock.hpp"

#include <doctest/doctest.h>

#include "ports/lock_keeper.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::servicebus::LockClock;

namespace {

/// A broker whose clock is ahead of this side's, or behind, and whose locks have a length: what it
/// says of them, and this side's readings.
struct Broker {
    Duration ahead{};
    Duration lock{30s};

    [[nodiscard]] static amqp::ClockReading reading(TimePoint now, Duration stepped = {}) {
        return {.now = now,
                .wall = WallTime{std::chrono::hours{24 * 365 * 50}} +
                        std::chrono::duration_cast<WallTime::duration>(now.time_since_epoch() +
                                                                       stepped)};
    }
    [[nodiscard]] WallTime clock(TimePoint now) const {
        return reading(now).wall + std::chrono::duration_cast<WallTime::duration>(ahead);
    }
    [[nodiscard]] WallTime until(TimePoint granted) const { return clock(granted + lock); }
};

constexpr TimePoint t0{1h};

/// Of a lock granted and answered at one instant.
Duration length_now(LockClock& clock, const Broker& broker, TimePoint now) {
    return clock.length(broker.until(now), now, Broker::reading(now));
}

} // namespace

TEST_CASE("lock clock: R12: the time an answer took is counted once: the lock ends where the "
          "broker has it") {
    const Broker broker;
    struct Row {
        Duration there;
        Duration back;
    };
    for (const Row row : {Row{0s, 0s}, Row{0s, 4s}, Row{4s, 0s}, Row{3s, 20s}, Row{40s, 1s}}) {
        CAPTURE(row.there.count());
        CAPTURE(row.back.count());
        LockClock clock;
        const TimePoint granted = t0 + row.there;
        const Duration length =
            clock.length(broker.until(granted), t0, Broker::reading(granted + row.back));
        CHECK(t0 + length == granted + broker.lock);
    }
}

TEST_CASE("lock clock: R22: the broker's time is told by what has passed there, not by our wall "
          "clock") {
    for (const Duration ahead : {-1h, 0h, 1h}) {
        const Broker broker{.ahead = ahead};
        LockClock clock;
        CHECK(clock.passed_by(t0) == WallTime{});
        clock.has_passed(broker.clock(t0 - 20s), Broker::reading(t0)); // an old message
        CHECK(clock.passed_by(t0) == broker.clock(t0 - 20s));
        CHECK(clock.passed_by(t0 + 5s) == broker.clock(t0 - 15s));
        clock.has_passed(broker.clock(t0 + 4s), Broker::reading(t0 + 5s, 2h)); // a fresh one
        CHECK(clock.passed_by(t0 + 5s) == broker.clock(t0 + 4s));
        clock.has_passed(broker.clock(t0), Broker::reading(t0 + 6s));
        CHECK(clock.passed_by(t0 + 7s) == broker.clock(t0 + 6s));
    }
}

TEST_CASE(
    "lock clock: R12: a short lock is short also where our clock is so far ahead that it looks "
    "expired") {
    const Broker broker{.ahead = -1h, .lock = 2s};
    LockClock clock;
    CHECK(length_now(clock, broker, t0) == LockClock::unknown_lock);
    clock.has_passed(broker.clock(t0), Broker::reading(t0)); // the broker told its time
    CHECK(length_now(clock, broker, t0) == 2s);
    const Broker long_lock{.ahead = -1h, .lock = 30s};
    CHECK(length_now(clock, long_lock, t0) == LockClock::unknown_lock);
}

TEST_CASE("lock clock: R12: a step of the wall clock while the answer is under way counts from the "
          "answer on") {
    const Broker broker;
    LockClock clock;
    CHECK(clock.length(broker.until(t0), t0, Broker::reading(t0 + 2s, 5s)) == 25s);
}

TEST_CASE("lock clock: a long lock whose renewal took long is no less plausible") {
    const Broker broker{.lock = 5min};
    LockClock clock;
    CHECK(clock.length(broker.until(t0 + 40s), t0, Broker::reading(t0 + 41s)) == 5min + 40s);
}

TEST_CASE("lock clock: what only a difference of the clocks explains is taken for a short lock, "
          "counted from the asking") {
    for (const Duration ahead :
         {Duration{10min}, Duration{-10min}, Duration{-30s}, Duration{48h}, Duration{-48h}}) {
        CAPTURE(ahead.count());
        LockClock clock;
        CHECK(clock.length(Broker{.ahead = ahead}.until(t0 + 1s), t0, Broker::reading(t0 + 1s)) ==
              5s);
    }
    LockClock clock;
    CHECK(clock.length(WallTime::max(), t0, Broker::reading(t0)) == 5s);
    CHECK(clock.length(WallTime::min(), t0, Broker::reading(t0)) == 5s);
}

TEST_CASE("lock clock: the bound: a clock that is ahead and has shown nothing makes a lock longer "
          "by as much, up to the longest there are") {
    struct Row {
        Duration ahead;
        Duration taken_for;
    };
    for (const Row row : {Row{-20s, 10s}, Row{9s, 39s}, Row{4min, 270s}, Row{5min, 5min},
                          Row{301s, LockClock::unknown_lock}}) {
        CAPTURE(row.ahead.count());
        LockClock clock;
        CHECK(length_now(clock, {.ahead = row.ahead}, t0) == row.taken_for);
    }
}

TEST_CASE("lock clock: the bound: a lock is renewed in time while the broker's clock is ahead by "
          "less than ten seconds, or than a shorter lock lasts") {
    for (const Duration lock : {Duration{5s}, Duration{8s}, Duration{10s}, Duration{30s},
                                Duration{60s}, Duration{5min}}) {
        const auto renewed_after = [&](Duration ahead) {
            LockClock clock;
            ports::LockKeeper keeper;
            keeper.granted(t0, {.length = length_now(clock, {.ahead = ahead, .lock = lock}, t0)});
            return keeper.next() - t0;
        };
        CAPTURE(lock.count());
        const Duration most = std::min<Duration>(10s, lock);
        CHECK(renewed_after(most - 1ms) < lock);
        if (lock < 5min) { // it cannot look longer
            CHECK(renewed_after(most) >= lock);
        }
    }
}

TEST_CASE(
    "lock clock: a message that the broker stamped shows how far its clock is ahead at least") {
    const Broker broker{.ahead = 60s};
    LockClock clock;
    CHECK(length_now(clock, broker, t0) == 90s);
    clock.has_passed(broker.clock(t0 - 1h), Broker::reading(t0)); // an old one shows nothing
    CHECK(length_now(clock, broker, t0) == 90s);
    clock.has_passed(broker.clock(t0 - 2s), Broker::reading(t0));
    CHECK(length_now(clock, broker, t0) == 32s);
    clock.has_passed(broker.clock(t0 + 3s), Broker::reading(t0 + 3s));
    CHECK(length_now(clock, broker, t0 + 10s) == 30s);
    clock.has_passed(broker.clock(t0), Broker::reading(t0 + 12s)); // less is no news
    CHECK(length_now(clock, broker, t0 + 20s) == 30s);
}

TEST_CASE(
    "lock clock: evidence never makes a lock longer, and a broker that is behind gives none") {
    for (const Duration ahead : {Duration{0s}, Duration{-10s}}) {
        const Broker broker{.ahead = ahead};
        LockClock clock;
        const Duration before = length_now(clock, broker, t0);
        clock.has_passed(broker.clock(t0), Broker::reading(t0));
        clock.has_ended(broker.until(t0 - 30s), t0 - 30s, Broker::reading(t0));
        CHECK(length_now(clock, broker, t0) == before);
    }
}

TEST_CASE("lock clock: a lock that runs out before its end shows how long locks are") {
    for (const Duration ahead : {Duration{60s}, Duration{290s}}) {
        const Broker broker{.ahead = ahead};
        LockClock clock;
        CHECK(length_now(clock, broker, t0) > 30s);
        clock.has_ended(broker.until(t0), t0, Broker::reading(t0 + 30s));
        CHECK(length_now(clock, broker, t0 + 31s) == 30s);
    }
}

TEST_CASE("lock clock: a lock that ends sooner than any runs out shows nothing") {
    const Broker broker;
    LockClock clock;
    clock.has_ended(broker.until(t0), t0, Broker::reading(t0 + 4999ms));
    CHECK(length_now(clock, broker, t0 + 5s) == 30s);
    clock.has_ended(broker.until(t0), t0, Broker::reading(t0 + 5s));
    CHECK(length_now(clock, broker, t0 + 5s) ==
          5s); // for whatever reason it ended: safe, and forgotten in time
}

TEST_CASE("lock clock: evidence counts for an hour, and for two at most") {
    const Broker broker{.ahead = 60s};
    LockClock clock;
    clock.has_passed(broker.clock(t0), Broker::reading(t0));
    CHECK(length_now(clock, broker, t0 + 1h) == 30s);
    CHECK(length_now(clock, broker, t0 + 2h - 1ms) == 30s);
    CHECK(length_now(clock, broker, t0 + 2h) == 90s);
    clock.has_passed(broker.clock(t0 + 121min), Broker::reading(t0 + 121min));
    CHECK(length_now(clock, broker, t0 + 121min) == 30s);
    CHECK(length_now(clock, broker, t0 + 24h) == 90s); // nobody has looked meanwhile
}

TEST_CASE("lock clock: a lesson is evidence that matters: more than a second more than was known") {
    const Broker broker{.ahead = 60s};
    LockClock clock;
    const auto lessons_after = [&](Duration old) {
        clock.has_passed(broker.clock(t0 - old), Broker::reading(t0));
        return clock.lessons();
    };
    CHECK(lessons_after(1h) == 0);
    CHECK(lessons_after(59s) == 0);
    CHECK(lessons_after(58s) == 1);
    CHECK(lessons_after(57s) == 1);
    CHECK(lessons_after(0s) == 2);
    CHECK(lessons_after(0s) == 2);
    clock.has_passed(broker.clock(t0 + 61min),
                     Broker::reading(t0 + 61min)); // the older evidence counts still
    CHECK(clock.lessons() == 2);
    clock.has_passed(broker.clock(t0 + 24h), Broker::reading(t0 + 24h)); // all was forgotten
    CHECK(clock.lessons() == 3);
}

TEST_CASE("lock clock: R12: steps of this side's wall clock change nothing of what is known") {
    const Broker broker{.ahead = 60s};
    LockClock clock;
    clock.has_passed(broker.clock(t0), Broker::reading(t0));
    for (const Duration step : {Duration{-3min}, Duration{0s}, Duration{60s}}) {
        CAPTURE(step.count());
        CHECK(clock.length(broker.until(t0 + 1s), t0 + 1s, Broker::reading(t0 + 1s, step)) == 30s);
    }
}

TEST_CASE("lock clock: nonsense is no evidence") {
    LockClock clock;
    clock.has_passed(WallTime::max(), Broker::reading(t0));
    clock.has_passed(WallTime::min(), Broker::reading(t0));
    clock.has_passed({}, Broker::reading(t0));
    CHECK(length_now(clock, {}, t0) == 30s);
}

TEST_CASE(
    "lock clock: a lock shows how far the clocks are apart, at least, and that they are not") {
    struct Row {
        Duration ahead;
        Duration shown;
    };
    for (const Row row : {Row{0s, 0s}, Row{4min, 0s}, Row{10min, 5min + 30s}, Row{-29s, 0s},
                          Row{-1h, 30s - 1h}, Row{48h, 24h}, Row{-48h, -24h}}) {
        CAPTURE(row.ahead.count());
        LockClock clock;
        CHECK(clock.broker_ahead() == 0s);
        static_cast<void>(length_now(clock, {.ahead = row.ahead}, t0));
        CHECK(clock.broker_ahead() == row.shown);
        static_cast<void>(length_now(clock, {}, t0 + 10s)); // it was set right
        CHECK(clock.broker_ahead() == 0s);
    }
}

TEST_CASE("lock clock: an answer that took longer than its lock shows no difference") {
    const Broker broker;
    LockClock clock;
    static_cast<void>(clock.length(broker.until(t0), t0, Broker::reading(t0 + 60s)));
    CHECK(clock.broker_ahead() == 0s);
}

TEST_CASE("lock clock: what passed on the broker's clock shows that it is ahead, until ours is set "
          "right") {
    const Broker broker{.ahead = 60s};
    LockClock clock;
    clock.has_passed(broker.clock(t0 - 1s), Broker::reading(t0));
    static_cast<void>(length_now(clock, broker, t0));
    CHECK(clock.broker_ahead() == 59s);
    static_cast<void>(clock.length(broker.until(t0), t0, Broker::reading(t0, 60s)));
    CHECK(clock.broker_ahead() == 0s);
    static_cast<void>(length_now(clock, broker, t0 + 3h)); // forgotten
    CHECK(clock.broker_ahead() == 0s);
}
