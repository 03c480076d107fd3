#include "processor/late_sessions.hpp"

#include <doctest/doctest.h>

#include "support/manual_loop.hpp"
#include "unit/processor/support/scripted_port.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

struct Fixture {
    test::ScriptedLinkPtr late() {
        auto link = std::make_shared<test::ScriptedLink>("a", std::nullopt);
        sessions.give_back(std::make_unique<test::LinkToScript>(link));
        return link;
    }

    test::ManualLoop loop{};
    processor::LateSessions sessions{loop, 5s};
};

} // namespace

TEST_CASE("R19: late sessions: are closed at once, and forgotten when the broker has answered") {
    Fixture f;
    const auto link = f.late();
    CHECK(link->take_log() == "close");
    f.sessions.sweep();
    CHECK_FALSE(f.sessions.empty());
    REQUIRE(link->answer_close());
    CHECK(link->alive);
    f.sessions.sweep();
    CHECK(f.sessions.empty());
    CHECK_FALSE(link->alive);
}

TEST_CASE(
    "R15: late sessions: one that is not answered is dropped when its time is over, others stay") {
    Fixture f;
    const auto first = f.late();
    f.loop.advance(3s);
    const auto second = f.late();
    f.loop.advance(2s);
    f.sessions.sweep();
    CHECK_FALSE(first->alive);
    CHECK(second->alive);
    f.sessions.clear();
    CHECK(f.sessions.empty());
    CHECK_FALSE(second->alive);
}
