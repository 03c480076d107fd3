// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <limits>

#include "tools/sessionq/live/quantities.hpp"

using namespace sessionq::cli;

TEST_CASE("length_text: three digits and a unit") {
    CHECK(length_text(0) == "0");
    CHECK(length_text(-1) == "0");
    CHECK(length_text(std::numeric_limits<double>::quiet_NaN()) == "0");
    CHECK(length_text(15e-9) == "15ns");
    CHECK(length_text(250e-6) == "250us");
    CHECK(length_text(0.0032) == "3.2ms");
    CHECK(length_text(0.01562) == "15.6ms");
    CHECK(length_text(0.5) == "500ms");
    CHECK(length_text(12.5) == "12.5s");
    CHECK(length_text(59.9) == "59.9s");
    CHECK(length_text(245) == "4m05s");
    CHECK(length_text(3600) == "1h00m");
    CHECK(length_text(2 * 86'400 + 3 * 3600) == "2d03h");
    CHECK(length_text(1e300) == "never");
}

TEST_CASE("count_text, counted and bytes_text") {
    CHECK(count_text(0) == "0");
    CHECK(count_text(999) == "999");
    CHECK(count_text(1000) == "1,000");
    CHECK(count_text(1'234'567) == "1,234,567");
    CHECK(counted(1, "session") == "1 session");
    CHECK(counted(0, "session") == "0 sessions");
    CHECK(bytes_text(1023) == "1023 B");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(bytes_text(std::uint64_t{64} << 20U) == "64.0 MiB");
    CHECK(bytes_text(std::uint64_t{1} << 60U) == "1048576.0 TiB");
}

TEST_CASE("rate_of: growth a second, and nothing after a restart") {
    CHECK(rate_of(100, 150, 2) == 25);
    CHECK(rate_of(100, 100, 2) == 0);
    CHECK_FALSE(rate_of(100, 50, 2));
    CHECK_FALSE(rate_of(100, 150, 0));
    CHECK(rate_text(std::nullopt) == "-");
    CHECK(rate_text(0) == "0");
    CHECK(rate_text(12.34) == "12.3");
    CHECK(rate_text(1203.6) == "1,204");
}
