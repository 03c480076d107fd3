// SPDX-License-Identifier: MIT
#include "core/task.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>

using sessionq::core::Task;

namespace {

/// Small and large callables are stored differently and must behave alike.
template <std::size_t Padding>
void check_life() {
    const auto watched = std::make_shared<int>(0);
    {
        Task task{[watched, padding = std::array<char, Padding>{}] { *watched += 1 + padding[0]; }};
        CHECK(watched.use_count() == 2);
        Task moved{std::move(task)};
        CHECK(watched.use_count() == 2);
        CHECK(moved);
        moved();
        moved();
        Task assigned;
        CHECK_FALSE(assigned);
        assigned = std::move(moved);
        assigned();
        CHECK(*watched == 3);
        assigned = Task{[] {}};
        CHECK(watched.use_count() == 1);
    }
    CHECK(watched.use_count() == 1);
}

} // namespace

TEST_CASE("task: runs, moves and destroys a callable stored in place") { check_life<8>(); }

TEST_CASE("task: runs, moves and destroys a callable stored on the heap") { check_life<200>(); }

TEST_CASE("task: holds a move-only callable") {
    int got = 0;
    Task task{[value = std::make_unique<int>(7), &got] { got = *value; }};
    Task moved{std::move(task)};
    moved();
    CHECK(got == 7);
}
