// SPDX-License-Identifier: MIT
#include "client/calls/pending.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "support/manual_loop.hpp"
#include "unit/client/recording_pending.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

struct PendingFixture {
    test::ManualLoop loop;
    std::shared_ptr<test::RecordingPending<int>> pending =
        std::make_shared<test::RecordingPending<int>>(loop, Deadline::after(1s, loop.now()));
    detail::client::PendingPtr<int> started{};

    void launch() {
        detail::client::launch<int>(
            pending, [this](const detail::client::PendingPtr<int>& begun) { started = begun; });
    }
    [[nodiscard]] std::optional<Errc> failure() const {
        return pending->answers.size() == 1 && !pending->answers.front()
                   ? std::optional{pending->answers.front().failure().code}
                   : std::nullopt;
    }
};

} // namespace

TEST_CASE("R15: the answer ends an operation, and nothing after it does") {
    PendingFixture f;
    f.launch();
    CHECK_FALSE(f.started); // never inside the call
    f.loop.run_until_idle();
    REQUIRE(f.started);
    CHECK(f.started->complete(7));
    CHECK(f.started->ended());
    CHECK_FALSE(f.started->complete(8));
    f.started->cancel();
    f.loop.advance(2s);
    REQUIRE(f.pending->answers.size() == 1);
    CHECK(f.pending->answers.front().value() == 7);
}

TEST_CASE("R15: the deadline ends an operation, and a late answer is not taken") {
    PendingFixture f;
    f.launch();
    f.loop.advance(999ms);
    CHECK(f.pending->answers.empty());
    f.loop.advance(2ms);
    CHECK(f.failure() == Errc::timeout);
    CHECK_FALSE(f.started->complete(7));
    CHECK(f.pending->answers.size() == 1);
}

TEST_CASE("R15: the stop token ends an operation, also before it has begun") {
    PendingFixture f;
    std::stop_source stop;
    f.pending->watch(OperationContext{}.with_stop(stop.get_token()));
    SUBCASE("while it is under way") {
        f.launch();
        f.loop.run_until_idle();
        CHECK(f.started);
        stop.request_stop();
        CHECK(f.pending->answers.empty()); // the token's thread only says so
    }
    SUBCASE("before it was launched") {
        stop.request_stop();
        f.launch();
    }
    f.loop.run_until_idle();
    CHECK(f.failure() == Errc::cancelled);
    f.loop.advance(2s);
    CHECK(f.pending->answers.size() == 1);
}

TEST_CASE("pending: an operation whose deadline has passed is not started") {
    PendingFixture f;
    f.loop.clock().advance(1s);
    f.launch();
    f.loop.run_until_idle();
    CHECK_FALSE(f.started);
    CHECK(f.failure() == Errc::timeout);
}

TEST_CASE("R15: an operation that never reached its loop is cancelled with it") {
    std::shared_ptr<test::RecordingPending<int>> pending;
    {
        test::ManualLoop loop;
        pending = std::make_shared<test::RecordingPending<int>>(loop, Deadline::never());
        detail::client::launch<int>(
            pending, [](const detail::client::PendingPtr<int>&) { FAIL("the loop has ended"); });
    }
    REQUIRE(pending->answers.size() == 1);
    CHECK(pending->answers.front().failure().code == Errc::cancelled);
}

TEST_CASE("pending: who gives up is asked what to answer instead, once") {
    PendingFixture f;
    f.launch();
    f.loop.run_until_idle();
    int asked = 0;
    f.started->on_give_up([&](Failure failure) -> core::Result<int> {
        ++asked;
        CHECK(failure.code == Errc::timeout);
        return 0;
    });
    f.loop.advance(2s);
    CHECK(asked == 1);
    REQUIRE(f.pending->answers.size() == 1);
    CHECK(f.pending->answers.front().value() == 0);
}

TEST_CASE("pending: it may be let go of by what it gives up") {
    test::ManualLoop loop;
    auto pending =
        std::make_shared<test::RecordingPending<int>>(loop, Deadline::after(1s, loop.now()));
    detail::client::PendingPtr<int> waiting;
    detail::client::launch<int>(pending, [&](const detail::client::PendingPtr<int>& begun) {
        waiting = begun;
        begun->on_give_up([&](Failure failure) -> core::Result<int> {
            waiting = nullptr;
            return failure;
        });
    });
    loop.run_until_idle();
    pending = nullptr; // `waiting` holds the last one
    loop.advance(2s);
    CHECK_FALSE(waiting);
}

TEST_CASE("R15: a duty to answer that is dropped answers by that, and not after an answer") {
    PendingFixture f;
    f.launch();
    f.loop.run_until_idle();
    std::optional<detail::client::AnswerTo<int>> duty{std::in_place, f.started, Errc::lock_lost};
    auto copy = duty;
    duty.reset();
    CHECK(f.pending->answers.empty());
    SUBCASE("dropped") {
        copy.reset();
        CHECK(f.failure() == Errc::lock_lost);
    }
    SUBCASE("answered") {
        (*copy)(5);
        copy.reset();
        REQUIRE(f.pending->answers.size() == 1);
        CHECK(f.pending->answers.front().value() == 5);
    }
}
