// SPDX-License-Identifier: MIT
#include "client/receiving/session_receiver_core.hpp"

#include <doctest/doctest.h>

#include "support/manual_loop.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

template <typename T>
class Taking final : public detail::client::Pending<T> {
public:
    using detail::client::Pending<T>::Pending;

    std::optional<T> answer{};
    std::optional<Failure> failed{};

private:
    void deliver(core::Result<T> got) override {
        if (got) {
            answer.emplace(std::move(got).value());
        } else {
            failed = got.failure();
        }
    }
};

struct SessionReceiverCoreFixture {
    /// A session that came `waited` after it was asked for, with a lock of `lock`.
    void open(Duration waited, Duration lock, const SessionReceiverOptions& options = {}) {
        open_with(waited, lock, detail::client::settings_of(options));
    }
    void open_with(Duration waited, Duration lock, const detail::client::ReceiverSettings& terms) {
        const TimePoint asked = loop.now();
        loop.advance(waited);
        link = std::make_shared<test::ScriptedLink>("a", lock);
        status = receivers.add(std::make_unique<detail::client::SessionReceiverCore>(
            detail::client::SessionReceiverCore::Home{loop, receivers, notifier}, "orders", terms,
            std::make_unique<test::LinkToScript>(link), asked));
    }
    /// A message is there and is received.
    std::shared_ptr<detail::client::HeldDelivery> take() {
        const auto pending =
            std::make_shared<Taking<detail::client::Deliveries>>(loop, Deadline::never());
        status->receiver()->receive(pending, 1, false);
        link->deliver("x");
        loop.run_until_idle();
        REQUIRE(pending->answer);
        REQUIRE(pending->answer->size() == 1);
        return std::shared_ptr<detail::client::HeldDelivery>{
            static_cast<detail::client::HeldDelivery*>(pending->answer->front().release())};
    }
    void complete(std::shared_ptr<detail::client::HeldDelivery> held) {
        status->receiver()->settle(std::make_shared<Taking<core::Done>>(loop, Deadline::never()),
                                   std::move(held), {.outcome = ports::Outcome::complete});
        static_cast<void>(link->answer_settlement());
    }
    /// Time passes, and the broker grants what it is asked for.
    void pass(int seconds) {
        for (; seconds > 0; --seconds) {
            loop.advance(1s);
            renewals += link->answer_renewal(ports::LockGrant{.length = 30s}) ? 1 : 0;
        }
    }
    std::shared_ptr<Taking<core::Done>> close() {
        const auto pending = std::make_shared<Taking<core::Done>>(loop, Deadline::never());
        status->receiver()->close(pending);
        return pending;
    }
    ~SessionReceiverCoreFixture() { receivers.end_all(); }

    detail::client::ReceiverSet receivers{};
    test::ManualLoop loop{};
    test::QueueExecutor notifier{};
    test::ScriptedLinkPtr link{};
    std::shared_ptr<detail::client::SessionStatus> status{};
    int renewals{0};
};

} // namespace

TEST_CASE("R12: session receiver: an accept that waited longer than the lock lasts holds its "
          "session, and renews at once") {
    SessionReceiverCoreFixture f;
    f.open(40s, 30s);
    CHECK_FALSE(f.status->loss());
    CHECK(f.link->take_log() == "renew");
    REQUIRE(f.link->answer_renewal(ports::LockGrant{.length = 30s}));
    CHECK(f.status->lock_expires() == Deadline::after(30s, f.loop.now()));
    f.loop.advance(19s);
    CHECK(f.link->take_log().empty());
    f.loop.advance(1s);
    CHECK(f.link->take_log() == "renew");
}

TEST_CASE("R12: session receiver: without renewal the lock is counted from the answer, less what "
          "it may have travelled") {
    SessionReceiverCoreFixture f;
    f.open(40s, 30s, {.auto_renew = false});
    CHECK_FALSE(f.status->loss());
    CHECK(f.status->lock_expires() > Deadline::after(27s, f.loop.now()));
    CHECK(f.status->lock_expires() < Deadline::after(30s, f.loop.now()));
    CHECK(f.link->take_log().empty());
}

TEST_CASE("R12: session receiver: an answer that came at once counts from the asking") {
    SessionReceiverCoreFixture f;
    f.open(1s, 30s);
    CHECK(f.status->lock_expires() == Deadline::after(29s, f.loop.now()));
    CHECK(f.link->take_log().empty());
}

TEST_CASE("session receiver: prefetched messages are asked for before anybody receives") {
    SessionReceiverCoreFixture f;
    f.open_with(1s, 30s, detail::client::settings_of(ReceiverOptions{.prefetch = 7}));
    CHECK(f.link->credit == 7);
}

TEST_CASE("R13: session receiver: renewals that fail are repeated; then the stop token fires, and "
          "after it the lock is lost") {
    SessionReceiverCoreFixture f;
    f.open(0s, 30s);
    const std::stop_token stop = f.status->stop_token();
    int tries = 0;
    for (int second = 0; second < 30 && !stop.stop_requested(); ++second) {
        f.loop.advance(1s);
        tries += f.link->answer_renewal(Failure{.code = Errc::server_busy}) ? 1 : 0;
        f.notifier.run();
    }
    CHECK(tries > 2);
    CHECK(stop.stop_requested());
    CHECK_FALSE(f.status->loss());
    f.loop.advance(10s);
    REQUIRE(f.status->loss());
    CHECK(f.status->loss()->code == Errc::lock_lost);
    CHECK_FALSE(f.link->alive);
}

TEST_CASE("R13: session receiver: a lock is not renewed for messages of which none was settled "
          "for max_lock_renewal") {
    SessionReceiverCoreFixture f;
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
    CHECK_FALSE(f.status->loss());
    f.pass(60);
    CHECK(f.renewals == 14);
    f.notifier.run();
    CHECK(f.status->stop_token().stop_requested());
    REQUIRE(f.status->loss());
    CHECK(f.status->loss()->code == Errc::lock_lost);
    CHECK(f.status->loss()->detail.find("max_lock_renewal") != std::string::npos);
}

TEST_CASE("R13: session receiver: once a message is settled after all, a renewal that was held "
          "back is made at once") {
    SessionReceiverCoreFixture f;
    f.open(0s, 60s, {.max_lock_renewal = 30s});
    auto held = f.take();
    f.loop.advance(55s);
    CHECK(f.link->take_log().empty());
    f.complete(std::move(held));
    CHECK(f.link->take_log() == "complete x, renew");
}

TEST_CASE("R12: session receiver: an uncertain lock is renewed at once, by a later turn") {
    SessionReceiverCoreFixture f;
    f.open(0s, 90s);
    f.link->events->on_lock_uncertain();
    CHECK(f.link->take_log().empty());
    f.loop.advance(0s);
    CHECK(f.link->take_log() == "renew");
}

TEST_CASE("session receiver: max_lock_renewal is without effect where nothing is settled") {
    SessionReceiverCoreFixture f;
    f.open(0s, 30s, {.receive_and_delete = true, .max_lock_renewal = 10s});
    f.link->removes = true;
    const auto removed = f.take();
    f.pass(200);
    CHECK(f.renewals == 10);
}

TEST_CASE("R3: session receiver: closing drains, then detaches, then answers") {
    SessionReceiverCoreFixture f;
    f.open(0s, 30s);
    const auto waiting =
        std::make_shared<Taking<detail::client::Deliveries>>(f.loop, Deadline::never());
    f.status->receiver()->receive(waiting, 2, false);
    f.loop.run_until_idle();
    static_cast<void>(f.link->take_log());
    const auto closed = f.close();
    CHECK(waiting->ended());
    CHECK_FALSE(waiting->answer);
    CHECK(f.link->take_log() == "drain");
    f.link->deliver("late"); // it goes back with the session
    REQUIRE(f.link->answer_drain());
    CHECK(f.link->take_log() == "close");
    CHECK_FALSE(closed->answer);
    REQUIRE(f.link->answer_close());
    CHECK(closed->answer);
    CHECK(f.status->receiver() == nullptr);
    CHECK(f.link->alive); // destroyed by a later turn
    f.loop.run_until_idle();
    CHECK_FALSE(f.link->alive);
    f.notifier.run();
    CHECK(f.status->stop_token().stop_requested());
    CHECK(f.status->loss()->code == Errc::cancelled);
}

TEST_CASE("R18: session receiver: closing is bounded where the broker does not answer") {
    SessionReceiverCoreFixture f;
    f.open(0s, 30s);
    const auto closed = f.close();
    const auto again = f.close();
    CHECK(f.link->take_log() == "close"); // no credit, no drain
    f.loop.advance(detail::client::ReceiverMachine::close_timeout - 1ns);
    CHECK_FALSE(closed->answer);
    f.loop.advance(1ns);
    CHECK(closed->answer);
    CHECK(again->answer);
    f.loop.run_until_idle();
    CHECK_FALSE(f.link->alive);
}

TEST_CASE("session receiver: a lost session fails what waits and what was not confirmed") {
    SessionReceiverCoreFixture f;
    f.open(0s, 30s);
    auto held = f.take();
    const auto settled = std::make_shared<Taking<core::Done>>(f.loop, Deadline::never());
    f.status->receiver()->settle(settled, std::move(held), {.outcome = ports::Outcome::complete});
    const auto waiting =
        std::make_shared<Taking<detail::client::Deliveries>>(f.loop, Deadline::never());
    f.status->receiver()->receive(waiting, 1, false);
    f.link->events->on_lost(Failure{.code = Errc::connection_lost});
    CHECK(waiting->ended());
    CHECK(f.status->receiver() == nullptr);
    f.status->give_back(); // too late, and no harm
    f.loop.run_until_idle();
    REQUIRE(settled->failed);
    CHECK(settled->failed->code == Errc::lock_lost);
    CHECK(settled->failed->outcome_unknown);
    CHECK(f.status->loss()->code == Errc::connection_lost);
}

TEST_CASE("R19: session receiver: an accepted session that nobody takes is given back") {
    SessionReceiverCoreFixture f;
    f.open(0s, 30s);
    { const detail::client::HeldSession accepted{f.status}; }
    f.loop.run_until_idle();
    CHECK(f.link->take_log() == "close");
}

TEST_CASE("session receiver: a lock that has ended when the accept is answered is lost at once") {
    SessionReceiverCoreFixture f;
    f.open(0s, 0s);
    REQUIRE(f.status->loss());
    CHECK(f.status->loss()->code == Errc::lock_lost);
    CHECK(f.status->receiver() == nullptr);
    f.loop.run_until_idle();
    CHECK_FALSE(f.link->alive);
}
