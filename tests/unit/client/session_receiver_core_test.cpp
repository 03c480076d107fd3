#include "client/session_receiver_core.hpp"

#include <doctest/doctest.h>

#include "support/manual_loop.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

template <typename T>
class Taking final : public client::Pending<T> {
public:
    using client::Pending<T>::Pending;

    std::optional<T> answer{};

private:
    void deliver(core::Result<T> got) override {
        if (got) {
            answer.emplace(std::move(got).value());
        }
    }
};

struct Fixture {
    /// A session that came `waited` after it was asked for, with a lock of `lock`.
    void open(Duration waited, Duration lock, const SessionReceiverOptions& options = {}) {
        const TimePoint asked = loop.now();
        loop.advance(waited);
        link = std::make_shared<test::ScriptedLink>("a", lock);
        core = client::SessionReceiverCore::make({loop, residents, notifier}, "orders", options,
                                                 std::make_unique<test::LinkToScript>(link), asked);
    }
    /// A message is there and is received.
    std::shared_ptr<client::HeldDelivery> take() {
        const auto pending = std::make_shared<Taking<client::Deliveries>>(loop, Deadline::never());
        core->receive(pending, 1, false);
        link->deliver("x");
        loop.run_until_idle();
        REQUIRE(pending->answer);
        REQUIRE(pending->answer->size() == 1);
        return std::shared_ptr<client::HeldDelivery>{
            static_cast<client::HeldDelivery*>(pending->answer->front().release())};
    }
    void complete(std::shared_ptr<client::HeldDelivery> held) {
        core->settle(std::move(held), {.outcome = ports::Outcome::complete},
                     std::make_shared<Taking<core::Done>>(loop, Deadline::never()));
        static_cast<void>(link->answer_settlement());
    }
    /// Time passes, and the broker grants what it is asked for.
    void pass(int seconds) {
        for (; seconds > 0; --seconds) {
            loop.advance(1s);
            renewals += link->answer_renewal(ports::LockGrant{.length = 30s}) ? 1 : 0;
        }
    }
    ~Fixture() {
        core.reset();
        loop.run_until_idle();
    }

    test::ManualLoop loop{};
    client::Residents residents{};
    test::QueueExecutor notifier{};
    test::ScriptedLinkPtr link{};
    client::ReceiverPtr core{};
    int renewals{0};
};

} // namespace

TEST_CASE("R12: session receiver: an accept that waited longer than the lock lasts holds its "
          "session, and renews at once") {
    Fixture f;
    f.open(40s, 30s);
    CHECK_FALSE(f.core->loss());
    CHECK(f.link->take_log() == "renew");
    REQUIRE(f.link->answer_renewal(ports::LockGrant{.length = 30s}));
    CHECK(f.core->lock_expires() == Deadline::after(30s, f.loop.now()));
    f.loop.advance(19s);
    CHECK(f.link->take_log().empty());
    f.loop.advance(1s);
    CHECK(f.link->take_log() == "renew");
}

TEST_CASE("R12: session receiver: without renewal the lock is counted from the answer, less what "
          "it may have travelled") {
    Fixture f;
    f.open(40s, 30s, {.renew_lock = false});
    CHECK_FALSE(f.core->loss());
    CHECK(f.core->lock_expires() > Deadline::after(27s, f.loop.now()));
    CHECK(f.core->lock_expires() < Deadline::after(30s, f.loop.now()));
    CHECK(f.link->take_log().empty());
}

TEST_CASE("R12: session receiver: an answer that came at once counts from the asking") {
    Fixture f;
    f.open(1s, 30s);
    CHECK(f.core->lock_expires() == Deadline::after(29s, f.loop.now()));
    CHECK(f.link->take_log().empty());
}

TEST_CASE("R13: session receiver: renewals that fail are repeated; then the stop token fires, and "
          "after it the lease is lost") {
    Fixture f;
    f.open(0s, 30s);
    const std::stop_token stop = f.core->stop_token();
    int tries = 0;
    for (int second = 0; second < 30 && !stop.stop_requested(); ++second) {
        f.loop.advance(1s);
        tries += f.link->answer_renewal(Failure{.code = Errc::server_busy}) ? 1 : 0;
        f.notifier.run();
    }
    CHECK(tries > 2);
    CHECK(stop.stop_requested());
    CHECK_FALSE(f.core->loss());
    f.loop.advance(10s);
    REQUIRE(f.core->loss());
    CHECK(f.core->loss()->code == Errc::lock_lost);
    CHECK_FALSE(f.link->alive);
}

TEST_CASE("R13: session receiver: a lease is not renewed for messages of which none was settled "
          "for max_lock_renewal") {
    Fixture f;
    f.open(0s, 30s, {.max_lock_renewal = 50s});
    f.pass(200);
    CHECK(f.renewals == 10); // nothing is in hand
    auto first = f.take();
    auto second = f.take();
    f.pass(45);
    CHECK(f.renewals == 12);
    f.complete(std::move(first)); // progress
    f.pass(45);
    CHECK(f.renewals == 14);
    CHECK_FALSE(f.core->loss());
    f.pass(60);
    CHECK(f.renewals == 14);
    f.notifier.run();
    CHECK(f.core->stop_token().stop_requested());
    REQUIRE(f.core->loss());
    CHECK(f.core->loss()->code == Errc::lock_lost);
}

TEST_CASE("R13: session receiver: once a message is settled after all, a renewal that was held "
          "back is made at once") {
    Fixture f;
    f.open(0s, 60s, {.max_lock_renewal = 30s});
    auto held = f.take();
    f.loop.advance(55s);
    CHECK(f.link->take_log().empty());
    f.complete(std::move(held));
    CHECK(f.link->take_log() == "complete x, renew");
}

TEST_CASE("R12: session receiver: a lease that is in doubt is renewed at once, by a later turn") {
    Fixture f;
    f.open(0s, 90s);
    f.link->events->on_lease_doubted();
    CHECK(f.link->take_log().empty());
    f.loop.advance(0s);
    CHECK(f.link->take_log() == "renew");
}

TEST_CASE("session receiver: max_lock_renewal is without effect where nothing is settled") {
    Fixture f;
    f.open(0s, 30s, {.receive_and_delete = true, .max_lock_renewal = 10s});
    f.link->removes = true;
    const auto removed = f.take();
    f.pass(200);
    CHECK(f.renewals == 10);
}
