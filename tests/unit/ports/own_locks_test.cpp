// SPDX-License-Identifier: MIT
#include "ports/own_locks.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <optional>

#include "support/manual_loop.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using ports::LockGrant;
using ports::OwnLock;
using ports::OwnLocks;
using LockPtr = std::shared_ptr<OwnLock>;

namespace {

/// A link's locks, whose broker answers when the test says so.
class ScriptedLocks final : public ports::MessageLocks {
public:
    struct Request {
        std::vector<std::uint64_t> tags;
        Handler handler;
    };

    ports::RequestId renew(std::vector<std::uint64_t> tags, Deadline, Handler handler) override {
        requests.push_back({std::move(tags), std::move(handler)});
        return requests.size();
    }
    void answer(std::vector<core::Result<LockGrant>> answers) {
        const Request first = std::move(requests.front());
        requests.pop_front();
        first.handler(std::move(answers));
    }

    std::deque<Request> requests{};
};

struct Fixture {
    explicit Fixture(OwnLocks::Settings terms = {})
        : locks{loop, notifier, port, std::move(terms)} {}

    LockPtr add(std::uint64_t tag) {
        ports::Delivery delivery;
        delivery.port_tag = tag;
        delivery.lock = 10s;
        return locks.add(delivery);
    }

    test::ManualLoop loop{};
    test::QueueExecutor notifier{};
    ScriptedLocks port{};
    OwnLocks locks;
};

} // namespace

TEST_CASE("own locks: R12: locks that became uncertain are renewed at once") {
    Fixture f;
    const LockPtr one = f.add(1);
    const LockPtr two = f.add(2);
    f.loop.advance(1ms);
    CHECK(f.port.requests.empty());
    f.locks.became_uncertain();
    f.loop.advance(1ms);
    REQUIRE(f.port.requests.size() == 1);
    CHECK(f.port.requests.front().tags == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("own locks: messages that came together are renewed by one request") {
    int lost = 0;
    Fixture f{{.lost = [&](ports::Delivery*) { ++lost; }}};
    const LockPtr one = f.add(1);
    const LockPtr two = f.add(2);
    CHECK(one->last_start() == f.loop.now() + 9s);
    f.loop.advance(5s);
    REQUIRE(f.port.requests.size() == 1);
    CHECK(f.port.requests.front().tags == std::vector<std::uint64_t>{1, 2});
    f.port.answer({LockGrant{.length = 10s}, Failure{.code = Errc::lock_lost}});
    CHECK_FALSE(one->is_lost());
    CHECK(two->is_lost());
    CHECK(lost == 1);
    CHECK(one->expires() == Deadline::after(10s, f.loop.now()));
    f.notifier.run();
    CHECK(two->stop_token().stop_requested());
    CHECK_FALSE(one->stop_token().stop_requested());
}

TEST_CASE("own locks: the owner is told how long a renewal took, once an answer") {
    std::vector<Duration> took;
    Fixture f{{.renewed = [&](Duration length, const core::Result<LockGrant>& answer) {
        took.push_back(answer.ok() ? length : Duration::zero());
    }}};
    const LockPtr one = f.add(1);
    const LockPtr two = f.add(2);
    f.loop.advance(5s);
    f.loop.advance(3s);
    f.port.answer({LockGrant{.length = 10s}, LockGrant{.length = 10s}});
    CHECK(took == std::vector<Duration>{3s});
}

TEST_CASE("own locks: R13: the stop token fires before the lock ends") {
    Fixture f{{.renewal = OwnLocks::Renewal::by_hand}};
    const LockPtr lock = f.add(1);
    f.loop.advance(8s);
    f.notifier.run();
    CHECK_FALSE(lock->stop_token().stop_requested());
    f.loop.advance(1s);
    f.notifier.run();
    CHECK(lock->stop_token().stop_requested());
    CHECK_FALSE(ports::is_over(lock.get(), f.loop.now()));
    f.loop.advance(1s);
    CHECK(lock->is_lost());
}

TEST_CASE("own locks: a settled message and a dropped one are not renewed") {
    int lost = 0;
    Fixture f{{.lost = [&](ports::Delivery*) { ++lost; }}};
    const LockPtr settled = f.add(1);
    const LockPtr dropped = f.add(2);
    const LockPtr kept = f.add(3);
    f.locks.remove(settled.get());
    dropped->drop();
    f.loop.advance(5s);
    REQUIRE(f.port.requests.size() == 1);
    CHECK(f.port.requests.front().tags == std::vector<std::uint64_t>{3});
    f.loop.advance(1h);
    CHECK_FALSE(settled->is_lost());
    CHECK(kept->is_lost()); // nothing was answered
    CHECK(lost == 1);
}

TEST_CASE("own locks: renewal ends max_renewal after the last start of the count") {
    Fixture f{{.max_renewal = 12s}};
    const LockPtr lock = f.add(1);
    f.loop.advance(4s);
    f.locks.restart(*lock);
    int renewals = 0;
    for (int second = 0; second < 60; ++second) {
        f.loop.advance(1s);
        if (!f.port.requests.empty()) {
            ++renewals;
            f.port.answer({LockGrant{.length = 10s}});
        }
    }
    CHECK(renewals == 3); // 5, 10 and 15 s after it came
    CHECK(lock->is_lost());
}

TEST_CASE("own locks: without renewal they are renewed by hand, until they end") {
    Fixture f{{.renewal = OwnLocks::Renewal::by_hand}};
    const LockPtr lock = f.add(1);
    f.loop.advance(9s);
    CHECK(f.port.requests.empty());
    std::optional<core::Result<Deadline>> answer;
    const auto keep = [&](core::Result<Deadline> got) { answer = std::move(got); };
    static_cast<void>(f.locks.renew(lock, {}, keep));
    f.port.answer({LockGrant{.length = 10s}});
    REQUIRE(answer);
    CHECK(answer->value() == Deadline::after(10s, f.loop.now()));
    f.loop.advance(9s);
    CHECK_FALSE(lock->is_lost());
    f.loop.advance(1s);
    CHECK(lock->is_lost());
    static_cast<void>(f.locks.renew(lock, {}, keep));
    CHECK(answer->failure().code == Errc::lock_lost);
}

TEST_CASE("own locks: those that are left when the link goes are lost") {
    LockPtr lock;
    {
        Fixture f;
        lock = f.add(1);
    }
    CHECK(lock->is_lost());
}

TEST_CASE("own locks: a delivery without a lock of its own has none") {
    Fixture f;
    const ports::Delivery delivery;
    CHECK(f.locks.add(delivery) == nullptr);
    f.locks.remove(nullptr);
    CHECK_FALSE(ports::is_over(nullptr, f.loop.now()));
    CHECK_FALSE(ports::has_ended(nullptr, true));
    CHECK(ports::last_start(nullptr) == TimePoint::max());
}

TEST_CASE("own locks: R15: a stop fires the tokens of all messages that are held") {
    Fixture f;
    const LockPtr one = f.add(1);
    const LockPtr settled = f.add(2);
    f.locks.remove(settled.get());
    f.locks.request_stop();
    f.notifier.run();
    CHECK(one->stop_token().stop_requested());
    CHECK_FALSE(one->is_lost());
    CHECK_FALSE(settled->stop_token().stop_requested());
}

TEST_CASE("own locks: R13: the stop tokens fire when the link has ended") {
    test::ManualLoop loop;
    test::QueueExecutor notifier;
    ScriptedLocks port;
    LockPtr lock;
    {
        OwnLocks locks{loop, notifier, port, {}};
        ports::Delivery delivery;
        delivery.port_tag = 1;
        delivery.lock = 10s;
        lock = locks.add(delivery);
    }
    CHECK(lock->is_lost());
    notifier.run();
    CHECK(lock->stop_token().stop_requested());
}
