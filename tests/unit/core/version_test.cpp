// SPDX-License-Identifier: MIT
#include <sessionq/version.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace sessionq;

TEST_CASE("the version's text is made of its numbers") {
    const Version version = sessionq::version();
    CHECK(version.text == std::to_string(version.major) + "." + std::to_string(version.minor) +
                              "." + std::to_string(version.patch));
    CHECK(version.text == SESSIONQ_PROJECT_VERSION);
}
