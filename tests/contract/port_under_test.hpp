// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "contract/port_fixture.hpp"

namespace sessionq::test {

using MakeFixture = std::unique_ptr<PortFixture> (*)();

/// A port that the suite runs on.
struct PortUnderTest {
    const char* name; ///< of its fixture; the names of cases end with it
    MakeFixture make;
};

/// The ports of this program. Each program defines it once. Called before `main`.
[[nodiscard]] std::span<const PortUnderTest> ports_under_test();

template <typename Fixture>
std::unique_ptr<PortFixture> make_fixture() {
    return std::make_unique<Fixture>();
}

} // namespace sessionq::test
