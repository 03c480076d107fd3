#include "client/held_locks.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using client::HeldDelivery;
using client::HeldLock;
using client::HeldLocks;
using ports::LockGrant;

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

class Renewed final : public client::Pending<Deadline> {
public:
    using Pending::Pending;
    std::optional<core::Result<Deadline>> answer{};

private:
    void deliver(core::Result<Deadline> got) override { answer.emplace(std::move(got)); }
};

struct Fixture {
    explicit Fixture(const ReceiverOptions& options = {})
        : locks{loop, &link, client::terms_of(options)} {}

    ports::DeliveryPtr deliver(std::uint64_t tag, std::optional<Duration> lock = 10s) {
        auto delivery = std::make_unique<HeldDelivery>();
        delivery->port_tag = tag;
        delivery->lock = lock;
        locks.add(*delivery);
        return delivery;
    }
    static HeldDelivery& held(const ports::DeliveryPtr& delivery) {
        return static_cast<HeldDelivery&>(*delivery);
    }

    test::ManualLoop loop{};
    ScriptedLocks link{};
    HeldLocks locks;
};

} // namespace

TEST_CASE("held locks: messages that came together are renewed by one request") {
    Fixture f;
    const auto one = f.deliver(1);
    const auto two = f.deliver(2);
    f.loop.advance(5s);
    REQUIRE(f.link.requests.size() == 1);
    CHECK(f.link.requests.front().tags == std::vector<std::uint64_t>{1, 2});
    f.link.answer({LockGrant{.length = 10s}, Failure{.code = Errc::lock_lost}});
    CHECK_FALSE(Fixture::held(one).is_lost());
    CHECK(Fixture::held(two).is_lost());
    const TimePoint shown{Duration{Fixture::held(one).own_lock->expires.load()}};
    CHECK(shown == f.loop.now() + 10s);
}

TEST_CASE("held locks: a delivery without a lock of its own has none") {
    Fixture f;
    const auto one = f.deliver(1, std::nullopt);
    CHECK(Fixture::held(one).own_lock == nullptr);
    f.loop.advance(1h);
    CHECK(f.link.requests.empty());
}

TEST_CASE("held locks: a settled message and a dropped one are not renewed") {
    Fixture f;
    const auto settled = f.deliver(1);
    auto dropped = f.deliver(2);
    const auto kept = f.deliver(3);
    f.locks.settle(Fixture::held(settled));
    dropped.reset();
    f.loop.advance(5s);
    REQUIRE(f.link.requests.size() == 1);
    CHECK(f.link.requests.front().tags == std::vector<std::uint64_t>{3});
    f.loop.advance(1h);
    CHECK_FALSE(Fixture::held(settled).is_lost());
    CHECK(Fixture::held(kept).is_lost()); // nothing was answered
}

TEST_CASE("held locks: renewal ends max_lock_renewal after the message was handed out") {
    Fixture f{{.max_lock_renewal = 12s}};
    std::vector<ports::DeliveryPtr> messages;
    messages.push_back(f.deliver(1));
    f.loop.advance(4s);
    f.locks.hand_out(messages);
    int renewals = 0;
    for (int second = 0; second < 60; ++second) {
        f.loop.advance(1s);
        if (!f.link.requests.empty()) {
            ++renewals;
            f.link.answer({LockGrant{.length = 10s}});
        }
    }
    CHECK(renewals == 3); // 5, 10 and 15 s after it came
    CHECK(Fixture::held(messages.front()).is_lost());
}

TEST_CASE("held locks: without renewal the application renews by hand") {
    Fixture f{{.renew_locks = false}};
    const auto one = f.deliver(1);
    f.loop.advance(9s);
    CHECK(f.link.requests.empty());
    const auto pending = std::make_shared<Renewed>(f.loop, Deadline::never());
    static_cast<void>(f.locks.renew(pending, Fixture::held(one).own_lock));
    f.link.answer({LockGrant{.length = 10s}});
    REQUIRE(pending->answer);
    CHECK(pending->answer->value() == Deadline::after(10s, f.loop.now()));
    f.loop.advance(9s);
    CHECK_FALSE(Fixture::held(one).is_lost());
    f.loop.advance(1s);
    CHECK(Fixture::held(one).is_lost());
    const auto late = std::make_shared<Renewed>(f.loop, Deadline::never());
    static_cast<void>(f.locks.renew(late, Fixture::held(one).own_lock));
    REQUIRE(late->answer);
    CHECK(late->answer->failure().code == Errc::lock_lost);
}
