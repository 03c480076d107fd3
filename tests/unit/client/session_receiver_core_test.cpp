#include "client/session_receiver_core.hpp"

#include <doctest/doctest.h>

#include "support/manual_loop.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

struct Fixture {
    /// A session that came `waited` after it was asked for, with a lock of `lock`.
    void open(Duration waited, Duration lock, const SessionReceiverOptions& options = {}) {
        const TimePoint asked = loop.now();
        loop.advance(waited);
        link = std::make_shared<test::ScriptedLink>("a", lock);
        core = client::SessionReceiverCore::make({loop, residents, notifier}, "orders", options, std::make_unique<test::LinkToScript>(link), asked);
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
};

} // namespace

TEST_CASE("R12: session receiver: an accept that waited longer than the lock lasts holds its session, and renews at once") {
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

TEST_CASE("R12: session receiver: without renewal the lock is counted from the answer, less what it may have travelled") {
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

TEST_CASE("R13: session receiver: renewals that fail are repeated; then the stop token fires, and after it the lease is lost") {
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
