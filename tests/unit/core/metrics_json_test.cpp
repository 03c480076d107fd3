// SPDX-License-Identifier: MIT
#include <sessionq/metrics.hpp>

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("metrics as JSON: counters and gauges have a value, histograms their buckets") {
    Histogram lengths;
    lengths.add(1ms);
    lengths.add(1ms);
    lengths.add(2s);
    Metrics metrics;
    metrics.add({.name = "sessionq.message.ended",
                 .description = "Messages that ended.",
                 .unit = "{message}",
                 .kind = MetricKind::counter,
                 .points = {{.attributes = {{"sessionq.outcome", "completed"}}, .value = 7}}});
    metrics.add({.name = "sessionq.buffer.usage", .unit = "By", .kind = MetricKind::gauge});
    metrics.add({.name = "messaging.process.duration",
                 .unit = "s",
                 .kind = MetricKind::histogram,
                 .points = {{.histogram = lengths}}});
    const std::string line = to_json(metrics);
    CHECK(line.find('\n') == std::string::npos);
    const auto json = nlohmann::json::parse(line);
    REQUIRE(json.size() == 3);
    CHECK(json.at(0) ==
          nlohmann::json{
              {"name", "sessionq.message.ended"},
              {"description", "Messages that ended."},
              {"unit", "{message}"},
              {"kind", "counter"},
              {"points", {{{"attributes", {{"sessionq.outcome", "completed"}}}, {"value", 7}}}}});
    CHECK(json.at(1).at("kind") == "gauge");
    CHECK(json.at(1).at("points").empty());
    const auto& point = json.at(2).at("points").at(0);
    CHECK(json.at(2).at("kind") == "histogram");
    CHECK(point.at("count") == 3);
    CHECK(point.at("sum").get<double>() == doctest::Approx(2.002));
    CHECK(point.at("min") == 0.001);
    CHECK(point.at("max") == 2.0);
    CHECK(point.at("p50").get<double>() == doctest::Approx(0.001).epsilon(0.02));
    CHECK(point.at("p99").get<double>() == doctest::Approx(2).epsilon(0.02));
    REQUIRE(point.at("buckets").size() == 2);
    CHECK(point.at("buckets").at(0).at("count") == 2);
    CHECK(point.at("buckets").at(0).at("upper").get<double>() ==
          doctest::Approx(0.001).epsilon(0.04));
    CHECK(point.at("buckets").at(1).at("count") == 1);
    CHECK_FALSE(point.contains("value"));
}

TEST_CASE("metrics as JSON: without metrics an empty array") { CHECK(to_json({}) == "[]"); }
