// SPDX-License-Identifier: MIT
#include "client/processors/stop_waits.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace sessionq;
using sessionq::detail::client::StopWaits;

TEST_CASE("stop waits: each caller is told once, with the first report") {
    StopWaits waits;
    std::vector<std::uint64_t> told;
    const auto note = [&](const StopReport& report) { told.push_back(report.drained); };
    waits.add(note);
    waits.add(note);
    CHECK(told.empty());
    waits.tell({.drained = 1});
    CHECK(told == std::vector<std::uint64_t>{1, 1});
    waits.tell({.drained = 2});
    CHECK(told.size() == 2);
}

TEST_CASE("stop waits: a caller that comes after the stop is told at once") {
    StopWaits waits;
    waits.tell({.drained = 3});
    std::uint64_t told = 0;
    waits.add([&](const StopReport& report) { told = report.drained; });
    CHECK(told == 3);
}

TEST_CASE("stop waits: a caller that gave up is not told, and its function is destroyed") {
    StopWaits waits;
    bool told = false;
    bool other = false;
    auto witness = std::make_shared<int>(0);
    const std::uint64_t number = waits.add([&told, witness](const StopReport&) { told = true; });
    waits.add([&](const StopReport&) { other = true; });
    CHECK(witness.use_count() == 2);
    waits.forget(number);
    CHECK(witness.use_count() == 1);
    waits.tell({});
    CHECK_FALSE(told);
    CHECK(other);
    waits.forget(number);
}
