// SPDX-License-Identifier: MIT
#include "core/turn_line.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::test;

TEST_CASE("turn line: one turn at a time, and the loop's other tasks in between") {
    ManualLoop loop;
    core::TurnLine line{loop};
    std::string ran;
    line.add([&] {
        ran += "a";
        line.add([&] { ran += "c"; }); // the rest of it
        CHECK(ran == "a");
        CHECK_FALSE(line.is_empty());
    });
    line.add([&] { ran += "b"; });
    CHECK(ran.empty());
    CHECK_FALSE(line.is_empty());
    loop.post([&] { ran += "|"; });
    loop.run_until_idle();
    CHECK(ran == "a|bc");
    line.add([&] { ran += "d"; });
    loop.run_until_idle();
    CHECK(ran == "a|bcd");
    CHECK(line.is_empty());
}

TEST_CASE("turn line: a turn that pauses is asked for again, and the others wait behind it") {
    ManualLoop loop;
    core::TurnLine line{loop};
    std::string ran;
    bool pauses = true;
    line.set_pause([&] {
        ran += "?";
        return pauses;
    });
    line.add([&] { ran += "a"; });
    line.add([&] { ran += "b"; });
    loop.run_until_idle();
    CHECK(ran == "?");
    line.go_on();
    loop.run_until_idle();
    CHECK(ran == "??");
    line.add([&] { ran += "c"; });
    loop.run_until_idle();
    CHECK(ran == "??");
    pauses = false;
    line.go_on();
    loop.run_until_idle();
    CHECK(ran == "???a?b?c");
}

TEST_CASE("turn line: destroying it drops what waits") {
    ManualLoop loop;
    std::optional<core::TurnLine> line{loop};
    bool ran = false;
    line->add([&] { ran = true; });
    line.reset();
    loop.run_until_idle();
    CHECK_FALSE(ran);
}
