// SPDX-License-Identifier: MIT
#include "client/processors/session_state.hpp"

#include <doctest/doctest.h>

#include "unit/client/processors/handler_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("session state: is asked of the session's link, and answered once") {
    test::HandlerFixture f;
    const auto written = f.run(detail::client::set_state(f.session(), "half", {}));
    const auto read = f.run(detail::client::get_state(f.session(), {}));
    CHECK(written->answers.empty());
    f.link->answers_state = true;
    f.bench.run();
    CHECK(f.link->state == "half");
    REQUIRE(written->answers.size() == 1);
    CHECK(written->answers.front().ok());
    REQUIRE(read->answers.size() == 1);
    CHECK(read->answers.front().value() == "half");
    f.bench.finish_all();
}

TEST_CASE("R15: session state: a link that ends without an answer is the end of the lock, not of "
          "the deadline only") {
    test::HandlerFixture f;
    const auto written = f.run(detail::client::set_state(f.session(), "half", {}));
    const auto read = f.run(detail::client::get_state(f.session(), {}));
    f.link->lose();
    f.bench.run();
    REQUIRE(written->answers.size() == 1);
    CHECK(written->answers.front().failure().code == Errc::lock_lost);
    REQUIRE(read->answers.size() == 1);
    CHECK(read->answers.front().failure().code == Errc::lock_lost);
    const auto late = f.run(detail::client::get_state(f.session(), {}));
    REQUIRE(late->answers.size() == 1);
    CHECK(late->answers.front().failure().code == Errc::lock_lost);
    f.bench.finish_all();
}

TEST_CASE(
    "session state: after the lock is lost that is the failure, whatever the handler's context "
    "says") {
    test::HandlerFixture f;
    CallOptions call;
    Errc while_held{};
    SUBCASE("its stop token has fired") {
        std::stop_source stop;
        stop.request_stop();
        call.stop = stop.get_token();
        while_held = Errc::cancelled;
    }
    SUBCASE("its deadline has passed") {
        call.context = OperationContext{Deadline::at(f.bench.loop.now() - 1s)};
        while_held = Errc::timeout;
    }
    const auto early = f.run(detail::client::set_state(f.session(), "half", call));
    REQUIRE(early->answers.size() == 1);
    CHECK(early->answers.front().failure().code == while_held);
    f.link->lose(Errc::lock_lost);
    f.bench.run();
    const auto late = f.run(detail::client::set_state(f.session(), "half", call));
    REQUIRE(late->answers.size() == 1);
    CHECK(late->answers.front().failure().code == Errc::lock_lost);
    CHECK(late->answers.front().failure().detail.find("'a'") != std::string::npos);
    f.bench.finish_all();
}
