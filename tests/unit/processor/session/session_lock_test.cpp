// SPDX-License-Identifier: MIT
#include "processor/session/session_lock.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::SessionLock;

namespace {

constexpr TimePoint lock_asked{1h};
constexpr Duration idle_handlers{};

/// Granted at once, for 60 s: a renewal is due after 50 s, the warning after 58 s.
SessionLock minute_lock(Duration longest = Duration::zero()) {
    SessionLock lock{longest};
    lock.locked(lock_asked, lock_asked, {.length = 60s});
    return lock;
}

std::string lock_words(const detail::processor::LockSteps& steps) {
    std::string text;
    for (const auto& [set, name] :
         {std::pair{steps.report_expired, "expired"}, std::pair{steps.warn, "warn"},
          std::pair{steps.report_slow, "slow"}, std::pair{steps.renew, "renew"}}) {
        if (set) {
            text.append(text.empty() ? "" : " ").append(name);
        }
    }
    return text;
}

} // namespace

TEST_CASE("session lock: R11: it is renewed before its end, again and again") {
    SessionLock lock = minute_lock();
    CHECK(lock.next(true) == lock_asked + 50s);
    CHECK(lock_words(lock.look(lock_asked + 50s - 1ns, idle_handlers)).empty());
    CHECK(lock_words(lock.look(lock_asked + 50s, idle_handlers)) == "renew");
    lock.renewed(lock_asked + 50s, lock_asked + 52s, ports::LockGrant{.length = 60s});
    CHECK(lock.keeper().expires().time() == lock_asked + 110s);
    CHECK(lock.next(true) == lock_asked + 100s);
    CHECK(lock_words(lock.look(lock_asked + 100s, idle_handlers)) == "renew");
    CHECK_FALSE(lock.take_loss());
}

TEST_CASE("session lock: R11: a renewal that fails is tried again, and nothing is lost") {
    SessionLock lock = minute_lock();
    CHECK(lock_words(lock.look(lock_asked + 50s, idle_handlers)) == "renew");
    lock.renewed(lock_asked + 50s, lock_asked + 50s, Failure{.code = Errc::server_busy});
    CHECK_FALSE(lock.take_loss());
    CHECK(lock.next(true) == lock_asked + 53s);
    CHECK(lock_words(lock.look(lock_asked + 53s, idle_handlers)) == "renew");
}

TEST_CASE("session lock: R13: it warns once before its end, and is then lost for one reason") {
    SessionLock lock = minute_lock();
    CHECK(lock_words(lock.look(lock_asked + 50s, idle_handlers)) == "renew"); // never answered
    CHECK(lock_words(lock.look(lock_asked + 58s, idle_handlers)) == "warn");
    CHECK(lock_words(lock.look(lock_asked + 59s, idle_handlers)).empty());
    CHECK(lock.next(true) == lock_asked + 60s);
    CHECK(lock_words(lock.look(lock_asked + 60s, idle_handlers)) == "expired");
    CHECK(lock.next(true) == TimePoint{}); // at once
    CHECK(lock.take_loss() == CloseReason::lock_lost);
    CHECK_FALSE(lock.take_loss());
    CHECK(lock_words(lock.look(lock_asked + 61s, idle_handlers)).empty());
    CHECK(lock.next(true) == TimePoint::max());
}

TEST_CASE("session lock: R13: a lock that the broker took has not expired, and is lost at once") {
    SessionLock lock = minute_lock();
    CHECK(lock_words(lock.look(lock_asked + 50s, idle_handlers)) == "renew");
    lock.renewed(lock_asked + 50s, lock_asked + 51s, Failure{.code = Errc::lock_lost});
    CHECK(lock.next(false) == TimePoint{});
    CHECK(lock_words(lock.look(lock_asked + 61s, idle_handlers)).empty());
    CHECK(lock.take_loss() == CloseReason::lock_lost);
}

TEST_CASE("session lock: R13: the reason of a loss is the one that came first") {
    SessionLock lock = minute_lock();
    lock.lose_soon(CloseReason::connection_lost);
    lock.lose_soon(CloseReason::unresponsive);
    CHECK(lock_words(lock.look(lock_asked + 60s, idle_handlers)) == "expired");
    CHECK(lock.take_loss() == CloseReason::connection_lost);
    CHECK_FALSE(lock.take_loss());
}

TEST_CASE("session lock: while it is not kept nothing is due but a loss") {
    SessionLock lock = minute_lock();
    CHECK(lock.next(false) == TimePoint::max());
    CHECK(lock.next(true) == lock_asked + 50s);
    lock.lose_soon(CloseReason::lock_lost);
    CHECK(lock.next(false) == TimePoint{});
    CHECK(lock.take_loss());
    CHECK(lock.next(false) == TimePoint::max());
}

TEST_CASE("session lock: R11: without a bound it is renewed however long handlers run") {
    SessionLock lock = minute_lock();
    CHECK(lock_words(lock.look(lock_asked + 50s, 24h * 365)) == "renew");
}

TEST_CASE("session lock: R11: it is not renewed once no handler has ended for max_lock_renewal") {
    for (const bool slow : {false, true}) {
        CAPTURE(slow);
        SessionLock lock = minute_lock(45s);
        const Duration busy_for = slow ? 45s : 45s - 1ns;
        CHECK(lock_words(lock.look(lock_asked + 50s, busy_for)) == (slow ? "" : "renew"));
        CHECK(lock.next(true) == lock_asked + 58s); // the warning
    }
}

TEST_CASE("session lock: R11: a handler that ends in time has it renewed again") {
    SessionLock lock = minute_lock(45s);
    CHECK(lock_words(lock.look(lock_asked + 55s, 50s)).empty());
    CHECK(lock_words(lock.look(lock_asked + 56s, 1s)) == "renew");
    CHECK(lock_words(lock.look(lock_asked + 58s, 50s)) == "warn"); // for want of an answer
    CHECK(lock_words(lock.look(lock_asked + 60s, 52s)) == "expired");
}

TEST_CASE(
    "session lock: R13: a lock that max_lock_renewal let end is told once, with the warning") {
    SessionLock lock = minute_lock(45s);
    CHECK(lock_words(lock.look(lock_asked + 50s, 50s)).empty());
    CHECK(lock_words(lock.look(lock_asked + 58s, 58s)) == "warn slow");
    CHECK(lock_words(lock.look(lock_asked + 59s, 59s)).empty());
    CHECK(lock_words(lock.look(lock_asked + 60s, 60s)).empty());
    CHECK(lock.take_loss() == CloseReason::lock_lost);
}

TEST_CASE("session lock: R13: a lock that is held back and found late has expired") {
    SessionLock lock = minute_lock(45s);
    CHECK(lock_words(lock.look(lock_asked + 61s, 61s)) == "expired");
    CHECK(lock.take_loss() == CloseReason::lock_lost);
}

TEST_CASE("session lock: R12: one that became uncertain is renewed at once") {
    SessionLock lock = minute_lock();
    lock.became_uncertain(lock_asked + 5s);
    CHECK(lock.next(true) == lock_asked + 5s);
    CHECK(lock_words(lock.look(lock_asked + 5s, idle_handlers)) == "renew");
}

TEST_CASE("session lock: R12: an accept that waited at the broker is measured by a renewal") {
    SessionLock lock{Duration::zero()};
    lock.locked(lock_asked, lock_asked + 45s, {.length = 60s});
    CHECK(lock.next(true) == lock_asked + 45s);
    CHECK(lock_words(lock.look(lock_asked + 45s, idle_handlers)) == "renew");
    lock.renewed(lock_asked + 45s, lock_asked + 46s, ports::LockGrant{.length = 60s});
    CHECK(lock.keeper().expires().time() == lock_asked + 105s);
}
