// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>

#include "tools/sessionq/live/processor_report.hpp"
#include "tools/sessionq/live/recent_histograms.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint beginning{1h};

HistogramSnapshot counted_twice(std::uint64_t fast, std::uint64_t slow) {
    HistogramSnapshot found{.name = "h",
                            .attributes = {{"k", "v"}},
                            .count = fast + slow,
                            .sum = static_cast<double>(fast + 2 * slow),
                            .min = 0.5,
                            .max = 1.9};
    found.buckets = {{1, fast}, {2, slow}};
    return found;
}

} // namespace

TEST_CASE("recent histograms: the difference of the newest look and the oldest") {
    RecentHistograms histograms{1min};
    CHECK(histograms.recent().empty());
    CHECK(histograms.length() == 0s);
    histograms.add({counted_twice(100, 0)}, beginning);
    CHECK(histograms.recent().empty());
    histograms.add({counted_twice(104, 0)}, beginning + 2s);
    histograms.add({counted_twice(190, 10)}, beginning + 4s);
    const auto recent = histograms.recent();
    REQUIRE(recent.size() == 1);
    CHECK(histograms.length() == 4s);
    CHECK(recent[0].name == "h");
    CHECK(recent[0].attributes.at(0).second == "v");
    CHECK(recent[0].count == 100);
    CHECK(recent[0].sum == 110);
    CHECK(recent[0].min == -1);
    CHECK(recent[0].p50 == 1);
    CHECK(recent[0].p90 == 1);
    CHECK(recent[0].p99 == 2);
    CHECK(recent[0].max == 2);
    REQUIRE(recent[0].buckets.size() == 2);
    CHECK(recent[0].buckets[0].count == 90);
}

TEST_CASE("recent histograms: what is older than the window is forgotten") {
    RecentHistograms histograms{10s};
    for (std::uint64_t second = 0; second <= 30; ++second) {
        histograms.add({counted_twice(second, 0)}, beginning + std::chrono::seconds{second});
    }
    CHECK(histograms.length() == 10s);
    CHECK(histograms.recent().at(0).count == 10);
    histograms.add({counted_twice(31, 0)}, beginning + 5min); // a long silence
    CHECK(histograms.recent().at(0).count == 1);
}

TEST_CASE("recent histograms: looks that come fast cost no memory, and the newest counts") {
    RecentHistograms histograms{10s};
    for (std::uint64_t tick = 0; tick <= 300; ++tick) {
        histograms.add({counted_twice(tick, 0)}, beginning + tick * 100ms);
    }
    CHECK(histograms.length() >= 9s);
    CHECK(histograms.length() <= 10s);
    CHECK(histograms.recent().at(0).count == std::uint64_t(histograms.length() / 100ms));
}

TEST_CASE("recent histograms: after a restart, and of a new histogram, all counts") {
    RecentHistograms histograms{1min};
    histograms.add({counted_twice(100, 0)}, beginning);
    HistogramSnapshot other = counted_twice(3, 0);
    other.name = "new";
    histograms.add({counted_twice(5, 0), other}, beginning + 1s);
    const auto recent = histograms.recent();
    REQUIRE(recent.size() == 2);
    CHECK(recent[0].count == 5);
    CHECK(recent[0].sum == 5);
    CHECK(recent[1].count == 3);
}

TEST_CASE("recent histograms: nothing counted is nothing") {
    RecentHistograms histograms{1min};
    histograms.add({counted_twice(100, 0)}, beginning);
    histograms.add({counted_twice(100, 0)}, beginning + 1s);
    CHECK(histograms.recent().at(0).count == 0);
    CHECK(histograms.recent().at(0).buckets.empty());
}

TEST_CASE("recent histograms: their page has rates, and no least value") {
    RecentHistograms histograms{1min};
    histograms.add({counted_twice(0, 0)}, beginning);
    histograms.add({counted_twice(10, 0)}, beginning + 2s);
    const Page page = recent_page(histograms.recent(), 2);
    REQUIRE(page.table.rows.size() == 1);
    CHECK(page.name.text() == "Last minute");
    CHECK(page.head.at(0).at(0).text.text().find("The last 2s") != std::string::npos);
    CHECK(page.table.rows[0][1].text.text() == "10");
    CHECK(page.table.rows[0][2].text.text() == "5");
    CHECK(page.table.rows[0][3].text.text() == "-");
    CHECK(page.table.rows[0][4].text.text() == "1s");
    CHECK(page.bars.size() == 1);
    CHECK(recent_page({}, 0).table.rows.empty());
}
