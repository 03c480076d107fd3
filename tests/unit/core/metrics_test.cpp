// SPDX-License-Identifier: MIT
#include <sessionq/metrics.hpp>

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

Metric counter(std::string name, std::vector<MetricPoint> points) {
    return {.name = std::move(name),
            .description = "Counts.",
            .unit = "{message}",
            .kind = MetricKind::counter,
            .points = std::move(points)};
}

MetricPoint in_queue(std::string queue, double value) {
    return {.attributes = {{"queue", std::move(queue)}}, .value = value};
}

} // namespace

TEST_CASE("metrics: points are found by name and attributes") {
    Metrics metrics;
    metrics.add(counter("done", {in_queue("a", 1), in_queue("b", 2)}));
    CHECK(metrics.value("done") == 3);
    CHECK(metrics.value("done", {{"queue", "b"}}) == 2);
    CHECK(metrics.value("done", {{"queue", "c"}}) == 0);
    CHECK(metrics.value("done", {{"queue", "b"}, {"more", "x"}}) == 0);
    CHECK(metrics.value("nothing") == 0);
    CHECK(metrics.find("nothing") == nullptr);
    REQUIRE(metrics.find("done") != nullptr);
    CHECK(metrics.find("done")->unit == "{message}");
}

TEST_CASE("metrics: those of several sources as one") {
    Metrics first;
    first.add(counter("done", {in_queue("a", 1)}));
    Metrics second;
    second.add(counter("done", {in_queue("a", 5), in_queue("b", 2)}));
    second.add(counter("failed", {in_queue("a", 7)}));
    first += second;
    CHECK(first.all().size() == 2);
    CHECK(first.find("done")->points.size() == 2);
    CHECK(first.value("done", {{"queue", "a"}}) == 6);
    CHECK(first.value("failed") == 7);
    first += first;
    CHECK(first.value("done") == 16);
}

TEST_CASE("metrics: gauges add up, and of ages the greater one stays") {
    const auto gauge = [](std::string name, std::string unit, double value) {
        return Metric{.name = std::move(name),
                      .unit = std::move(unit),
                      .kind = MetricKind::gauge,
                      .points = {{.value = value}}};
    };
    Metrics metrics;
    metrics.add(gauge("slots", "{slot}", 3));
    metrics.add(gauge("slots", "{slot}", 4));
    metrics.add(gauge("age", "s", 3));
    metrics.add(gauge("age", "s", 4));
    metrics.add(gauge("age", "s", 2));
    CHECK(metrics.value("slots") == 7);
    CHECK(metrics.value("age") == 4);
}

TEST_CASE("metrics: histograms with the attributes are one") {
    const auto took = [](std::string result, Duration length) {
        Metric metric{.name = "took", .unit = "s", .kind = MetricKind::histogram};
        metric.points.push_back({.attributes = {{"result", std::move(result)}}});
        metric.points.back().histogram.add(length);
        return metric;
    };
    Metrics metrics;
    metrics.add(took("good", 1ms));
    metrics.add(took("bad", 2ms));
    metrics.add(took("bad", 4ms));
    CHECK(metrics.find("took")->points.size() == 2);
    CHECK(metrics.histogram("took").count() == 3);
    CHECK(metrics.histogram("took", {{"result", "bad"}}).min() == 2ms);
    CHECK(metrics.histogram("nothing").count() == 0);
}
