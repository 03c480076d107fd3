// SPDX-License-Identifier: MIT
#include "ports/message_lock_keeper.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>

using namespace sessionq;
using namespace std::chrono_literals;
using ports::LockGrant;
using ports::MessageLock;
using ports::MessageLockActions;
using ports::MessageLockKeeper;
using Renewal = MessageLockKeeper::Renewal;
using Locks = std::vector<MessageLock*>;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};

const Failure busy{.code = Errc::server_busy};
const Failure taken{.code = Errc::lock_lost};

} // namespace

TEST_CASE("message lock keeper: R11: locks are renewed as one lock is, each in its time") {
    MessageLockKeeper keeper{Renewal::automatic};
    std::array<MessageLock, 2> locks;
    CHECK(keeper.next() == TimePoint::max());
    keeper.add(locks[0], t0, 60s);
    keeper.add(locks[1], t0 + 30s, 60s);
    CHECK(keeper.next() == t0 + 50s);
    CHECK(keeper.look(t0 + 49s).renew.empty());
    CHECK(keeper.look(t0 + 50s).renew == Locks{&locks[0]});
    CHECK(keeper.look(t0 + 51s).renew.empty()); // it was asked for
    CHECK_FALSE(keeper.answered(locks[0], t0 + 50s, t0 + 52s, LockGrant{.length = 60s}));
    CHECK(locks[0].expires() == Deadline::at(t0 + 110s));
    CHECK(keeper.next() == t0 + 80s);
    CHECK(keeper.look(t0 + 80s).renew == Locks{&locks[1]});
}

TEST_CASE("message lock keeper: locks that are soon due are renewed with those that are due") {
    MessageLockKeeper keeper{Renewal::automatic};
    std::array<MessageLock, 4> locks;
    keeper.add(locks[0], t0, 30s);
    keeper.add(locks[1], t0 + 1s, 30s);
    keeper.add(locks[2], t0 + 2s, 30s);
    keeper.add(locks[3], t0 + 5s, 30s);
    const MessageLockActions due = keeper.look(t0 + 20s);
    CHECK(due.renew == Locks{&locks[0], &locks[1], &locks[2]});
    CHECK(due.warn.empty());
    CHECK(keeper.look(t0 + 25s).renew == Locks{&locks[3]});
}

TEST_CASE("message lock keeper: R13: a lock that is not renewed warns, and is lost at its end") {
    MessageLockKeeper keeper{Renewal::by_hand};
    MessageLock lock;
    keeper.add(lock, t0, 10s);
    CHECK(keeper.look(t0 + 5s).renew.empty());
    CHECK(keeper.next() == t0 + 9s);
    const MessageLockActions near_end = keeper.look(t0 + 9s);
    CHECK(near_end.renew.empty());
    CHECK(near_end.warn == Locks{&lock});
    CHECK(keeper.look(t0 + 9500ms).warn.empty());
    CHECK(lock.is_kept());
    CHECK(keeper.look(t0 + 10s).lost == Locks{&lock});
    CHECK_FALSE(lock.is_kept());
    CHECK(keeper.next() == TimePoint::max());
}

TEST_CASE("message lock keeper: a refused renewal is repeated; lock_lost ends the lock at once") {
    MessageLockKeeper keeper{Renewal::automatic};
    std::array<MessageLock, 2> locks;
    keeper.add(locks[0], t0, 20s);
    keeper.add(locks[1], t0, 20s);
    CHECK(keeper.look(t0 + 10s).renew.size() == 2);
    CHECK_FALSE(keeper.answered(locks[0], t0 + 10s, t0 + 10s, busy));
    CHECK(keeper.answered(locks[1], t0 + 10s, t0 + 10s, taken));
    CHECK_FALSE(locks[1].is_kept());
    CHECK(keeper.next() == t0 + 11s);
    CHECK(keeper.look(t0 + 11s).renew == Locks{&locks[0]});
    CHECK_FALSE(keeper.answered(locks[1], t0 + 11s, t0 + 11s, taken)); // lost before
}

TEST_CASE("message lock keeper: a lock is renewed until its limit, and no longer") {
    MessageLockKeeper keeper{Renewal::automatic};
    MessageLock lock;
    keeper.add(lock, t0, 10s);
    keeper.renew_until(lock, t0 + 12s);
    CHECK(keeper.look(t0 + 5s).renew == Locks{&lock});
    CHECK_FALSE(keeper.answered(lock, t0 + 5s, t0 + 5s, LockGrant{.length = 10s}));
    CHECK(keeper.look(t0 + 10s).renew == Locks{&lock});
    CHECK_FALSE(keeper.answered(lock, t0 + 10s, t0 + 10s, LockGrant{.length = 10s}));
    CHECK(keeper.look(t0 + 15s).renew.empty());
    CHECK(keeper.look(t0 + 19s).warn == Locks{&lock});
    CHECK(keeper.look(t0 + 20s).lost == Locks{&lock});
}

TEST_CASE("message lock keeper: a settled message is neither renewed nor lost") {
    MessageLockKeeper keeper{Renewal::automatic};
    std::array<MessageLock, 3> locks;
    for (MessageLock& each : locks) {
        keeper.add(each, t0, 10s);
    }
    keeper.remove(locks[1]);
    keeper.remove(locks[1]);
    CHECK(keeper.look(t0 + 5s).renew.size() == 2);
    keeper.remove(locks[0]); // while it is being renewed
    CHECK_FALSE(keeper.answered(locks[0], t0 + 5s, t0 + 5s, LockGrant{.length = 10s}));
    keeper.remove(locks[2]);
    CHECK(keeper.any() == nullptr);
    CHECK(keeper.next() == TimePoint::max());
}

TEST_CASE("message lock keeper: locks that became uncertain are renewed at once") {
    MessageLockKeeper keeper{Renewal::automatic};
    std::array<MessageLock, 3> locks;
    for (MessageLock& each : locks) {
        keeper.add(each, t0, 60s);
    }
    keeper.became_uncertain(t0 + 1s);
    CHECK(keeper.next() <= t0 + 1s);
    CHECK(keeper.look(t0 + 1s).renew.size() == 3);
}

TEST_CASE("message lock keeper: one look asks for a batch, the next for the rest") {
    MessageLockKeeper keeper{Renewal::automatic};
    std::deque<MessageLock> locks(MessageLockKeeper::max_batch + 1);
    for (MessageLock& each : locks) {
        keeper.add(each, t0, 60s);
    }
    CHECK(keeper.look(t0 + 50s).renew.size() == MessageLockKeeper::max_batch);
    CHECK(keeper.next() <= t0 + 50s);
    CHECK(keeper.look(t0 + 50s).renew.size() == 1);
}

TEST_CASE("message lock keeper: however messages come and go, each lock ends at its own time") {
    std::mt19937 random{14};
    MessageLockKeeper keeper{Renewal::by_hand};
    std::deque<MessageLock> locks(300);
    std::vector<Duration> ends;
    for (MessageLock& each : locks) {
        const Duration length = std::chrono::milliseconds{1 + random() % 100'000};
        keeper.add(each, t0, length);
        if (random() % 3 == 0) {
            keeper.remove(each);
        } else {
            ends.push_back(length);
        }
    }
    std::ranges::sort(ends);
    std::vector<Duration> lost;
    while (keeper.any() != nullptr) {
        const TimePoint now = keeper.next();
        for (const MessageLock* each : keeper.look(now).lost) {
            CHECK(each->expires() == Deadline::at(now));
            lost.push_back(now - t0);
        }
    }
    CHECK(lost == ends);
}
