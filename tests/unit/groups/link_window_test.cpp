#include "groups/link_window.hpp"

#include <doctest/doctest.h>

using sessionq::groups::LinkWindow;

TEST_CASE("link window: as wide as the budget is for messages of the size they have had") {
    LinkWindow window;
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

TEST_CASE("link window: R23: what is held counts, and nothing more is asked for once the budget is "
          "used up") {
    LinkWindow window;
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

TEST_CASE("link window: one message is allowed however large they are") {
    LinkWindow window;
    window.set_budget(1024);
    window.arrived(std::size_t{1} << 20U);
    CHECK(window.grant(0) == 0);
    window.gone(std::size_t{1} << 20U);
    CHECK(window.grant(0) == 1);
}

TEST_CASE("link window: it has a width however large the budget is; a loss empties it") {
    LinkWindow window;
    window.set_budget(std::size_t{1} << 40U);
    CHECK(window.grant(0) == LinkWindow::widest);
    window.arrived(std::size_t{1} << 39U);
    window.lost();
    CHECK(window.held_bytes() == 0);
}
