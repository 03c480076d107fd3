// SPDX-License-Identifier: MIT
#include "processor/credit/credit_window.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>

#include "core/random.hpp"
#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using core::ByteBudget;
using detail::processor::CreditWindow;
using Phase = CreditWindow::Phase;

namespace {

constexpr std::size_t plenty = std::size_t{64} << 20U;

} // namespace

TEST_CASE("credit window: granted at once, and topped up when half of it is free") {
    ByteBudget budget{plenty, 1024};
    CreditWindow window{budget};
    CHECK(window.grant(32, 0) == 32);
    CHECK(budget.expected() == 32);
    for (int i = 0; i < 25; ++i) {
        window.arrived(100);
    }
    CHECK(window.credit() == 7);
    CHECK(window.grant(32, 10) == 0);
    window.arrived(100);
    CHECK(window.grant(32, 10) == 16);
    CHECK(window.credit() == 22);
    CHECK(window.grant(32, 40) == 0); // the window was made smaller meanwhile
}

TEST_CASE("credit window: a window of one is granted message by message") {
    ByteBudget budget{plenty, 1024};
    CreditWindow window{budget};
    CHECK(window.grant(1, 0) == 1);
    CHECK(window.grant(1, 0) == 0);
    window.arrived(100);
    CHECK(window.grant(1, 1) == 0);
    CHECK(window.grant(1, 0) == 1);
}

TEST_CASE("credit window: what is set aside takes no place, and counts against the budget") {
    ByteBudget budget{std::size_t{16} << 10U, 1024};
    CreditWindow window{budget};
    CHECK(window.grant(8, 0) == 8);
    for (int i = 0; i < 8; ++i) {
        window.arrived(1024);
    }
    CHECK(window.grant(8, 8) == 0);
    CHECK(window.grant(8, 8, 3) == 0); // fewer than half of the places are free
    CHECK(window.grant(8, 8, 4) == 4);
    CHECK(window.grant(8, 8, 8) == 4); // four are still to come
    for (int i = 0; i < 8; ++i) {
        window.arrived(1024);
    }
    CHECK(window.grant(8, 16, 16) == 0); // the budget is used up, and something will move
}

TEST_CASE("credit window: R23: what is fetched ahead stays within the budget of all sessions") {
    ByteBudget budget{std::size_t{16} << 10U, 1024};
    CreditWindow first{budget};
    CreditWindow second{budget};
    CHECK(first.grant(32, 0) == 16);
    CHECK(second.grant(32, 0) == 1); // each session may have one
    CHECK(second.grant(32, 0) == 0);
    CHECK(first.drain({}));
    first.drained();
    CHECK(budget.expected() == 1);
    CHECK(second.grant(32, 0) == 15);
}

TEST_CASE("credit window: R4: credit that comes back shows that the broker has no more") {
    ByteBudget budget{plenty, 1024};
    CreditWindow window{budget};
    CHECK(window.grant(2, 0) == 2);
    CHECK(window.drain({}));
    window.arrived(100);
    window.drained();
    CHECK(window.shown_empty());
    CHECK(window.grant(2, 0) == 2);
    CHECK(window.drain({}));
    window.arrived(100);
    CHECK_FALSE(window.shown_empty());
    window.arrived(100);
    window.drained();
    CHECK_FALSE(window.shown_empty()); // all of it was used
}

TEST_CASE("credit window: a message after its credit was counted as given back takes no other's") {
    ByteBudget budget{plenty, 1024};
    CreditWindow other{budget};
    CHECK(other.grant(8, 0) == 8);
    CreditWindow window{budget};
    window.close();
    window.arrived(100);
    CHECK(budget.expected() == 8);
    CHECK(budget.buffered_bytes() == 100);
    window.left(100);
    CHECK(budget.buffered_bytes() == 0);
}

TEST_CASE("credit window: R23: many sessions in any order stay within the budget, one message a "
          "session apart") {
    constexpr std::size_t bytes = std::size_t{1} << 20U;
    constexpr std::size_t size = 4096;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        core::Random random{seed};
        ByteBudget budget{bytes, 1024};
        for (int i = 0; i < 100; ++i) { // sizes are known
            budget.arrived(size);
            budget.gone(size);
        }
        struct Session {
            CreditWindow window;
            std::uint32_t held{0};
        };
        std::deque<Session> sessions;
        for (int i = 0; i < 50; ++i) {
            sessions.push_back({CreditWindow{budget}});
        }
        std::size_t held = 0;
        for (int step = 0; step < 5000; ++step) {
            Session& session = sessions[random.below(sessions.size())];
            switch (random.below(3)) {
            case 0: static_cast<void>(session.window.grant(32, session.held)); break;
            case 1:
                if (session.window.credit() != 0) {
                    session.window.arrived(size);
                    ++session.held;
                    ++held;
                }
                break;
            default:
                if (session.held != 0) {
                    session.window.left(size);
                    --session.held;
                    --held;
                }
            }
            REQUIRE(budget.buffered_bytes() == held * size);
            REQUIRE(budget.buffered_bytes() <= bytes + sessions.size() * size + bytes / 16);
        }
    }
}

TEST_CASE("credit window: every input in every phase") {
    struct Cell {
        Phase phase;
        std::uint32_t credit;
        std::uint32_t answer; // what was granted, or whether to drain
    };
    // Before each input: 10 of 10 asked for, or what the phase leaves of them.
    const Cell expected[3][6] = {
        {{Phase::flowing, 20, 10},
         {Phase::draining, 10, 1},
         {Phase::flowing, 9, 0},
         {Phase::flowing, 10, 0},
         {Phase::closed, 0, 0},
         {Phase::flowing, 10, 0}},
        {{Phase::draining, 10, 0},
         {Phase::draining, 10, 0},
         {Phase::draining, 9, 0},
         {Phase::flowing, 0, 0},
         {Phase::closed, 0, 0},
         {Phase::draining, 10, 0}},
        {{Phase::closed, 0, 0},
         {Phase::closed, 0, 0},
         {Phase::closed, 0, 0},
         {Phase::closed, 0, 0},
         {Phase::closed, 0, 0},
         {Phase::closed, 0, 0}},
    };
    const std::vector<std::pair<std::string, std::function<std::uint32_t(CreditWindow&)>>> inputs{
        {"grant", [](CreditWindow& window) { return window.grant(20, 0); }},
        {"drain", [](CreditWindow& window) { return window.drain({}) ? 1U : 0U; }},
        {"arrived",
         [](CreditWindow& window) {
             window.arrived(100);
             return 0U;
         }},
        {"drained",
         [](CreditWindow& window) {
             window.drained();
             return 0U;
         }},
        {"close",
         [](CreditWindow& window) {
             window.close();
             return 0U;
         }},
        {"left",
         [](CreditWindow& window) {
             window.left(100);
             return 0U;
         }},
    };
    std::vector<std::string> names;
    for (const auto& [name, input] : inputs) {
        names.push_back(name);
    }
    test::PhaseTable table{"credit window", {"flowing", "draining", "closed"}, std::move(names)};
    for (std::size_t phase = 0; phase < 3; ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(phase);
            CAPTURE(inputs[input].first);
            ByteBudget budget{plenty, 1024};
            CreditWindow window{budget};
            REQUIRE(window.grant(10, 0) == 10);
            if (phase == 1) {
                REQUIRE(window.drain({}));
            } else if (phase == 2) {
                window.close();
            }
            REQUIRE(static_cast<std::size_t>(window.phase()) == phase);
            const Cell& cell = expected[phase][input];
            CHECK(inputs[input].second(window) == cell.answer);
            CHECK(window.phase() == cell.phase);
            CHECK(window.credit() == cell.credit);
            CHECK(budget.expected() == cell.credit);
            table.reached(phase, input);
        }
    }
    table.print();
    CHECK(table.missing().empty());
}

TEST_CASE("credit window: credit that went out with the accept counts, and so does its drain") {
    core::ByteBudget budget{1 << 20, 1024};
    CreditWindow window{budget};
    window.given({.count = 8, .drain = true}, TimePoint{} + 5s);
    CHECK(window.credit() == 8);
    CHECK(budget.expected() == 8);
    CHECK(window.grant(8, 0) == 0);
    CHECK(window.is_draining());
    CHECK(window.drain_by() == TimePoint{} + 5s);
    window.arrived(100);
    CHECK(window.drained());
    CHECK(window.shown_empty());
    CHECK(budget.expected() == 0);
}

TEST_CASE("credit window: a drain that went out with the accept shows nothing unless a message "
          "came") {
    core::ByteBudget budget{1 << 20, 1024};
    CreditWindow window{budget};
    window.given({.count = 8, .drain = true}, TimePoint{});
    CHECK_FALSE(window.drained());
    CHECK_FALSE(window.shown_empty());
    CHECK(window.grant(8, 0) == 8);
    REQUIRE(window.drain(TimePoint{})); // this one is in no doubt
    CHECK(window.drained());
    CHECK(window.shown_empty());
}
