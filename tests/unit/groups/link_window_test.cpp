// SPDX-License-Identifier: MIT
#include "groups/link_window.hpp"

#include <doctest/doctest.h>

using sessionq::groups::LinkWindow;

TEST_CASE("link window: the width follows the budget and the average size of messages") {
    LinkWindow window{1024};
    window.set_budget(100 * 1024);
    CHECK(window.grant(0) == 100);
    CHECK(window.grant(60) == 0); // fewer flows
    CHECK(window.grant(50) == 50);
    for (int i = 0; i < 200; ++i) {
        window.arrived(10 * 1024);
        window.gone(10 * 1024);
    }
    CHECK(window.grant(0) == 10);
}

TEST_CASE("link window: R23: held messages count, and a used-up budget gives no credit") {
    LinkWindow window{1024};
    window.set_budget(100 * 1024);
    for (int i = 0; i < 80; ++i) {
        window.arrived(1024);
    }
    CHECK(window.grant(0) == 20);
    for (int i = 0; i < 20; ++i) {
        window.arrived(1024);
    }
    CHECK(window.grant(0) == 0);
    window.gone(50 * 1024);
    CHECK(window.grant(0) == 50);
}

TEST_CASE("link window: one message is always allowed") {
    LinkWindow window{1024};
    window.set_budget(1024);
    window.arrived(std::size_t{1} << 20U);
    CHECK(window.grant(0) == 0);
    window.gone(std::size_t{1} << 20U);
    CHECK(window.grant(0) == 1);
}

TEST_CASE("link window: the width is bounded whatever the budget, and a loss empties the window") {
    LinkWindow window{1024};
    window.set_budget(std::size_t{1} << 40U);
    CHECK(window.grant(0) == LinkWindow::widest);
    window.arrived(std::size_t{1} << 39U);
    window.lost();
    CHECK(window.held_bytes() == 0);
}

TEST_CASE("link window: R23: messages of a MiB fit into the budget from the start") {
    LinkWindow window;
    CHECK(window.grant(0) == 64);
}
