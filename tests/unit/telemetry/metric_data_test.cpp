// SPDX-License-Identifier: MIT
#include "telemetry/metric_data.hpp"

#include <cstdint>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using telemetry::StartBook;
using telemetry::to_metric_data;

namespace {

namespace sdk = opentelemetry::sdk::metrics;
namespace nostd = opentelemetry::nostd;

const WallTime made{1000s};

template <typename Point>
Point only_point(const Metric& metric) {
    StartBook starts{made};
    const auto data = to_metric_data(metric, starts, made + 5s);
    REQUIRE(data.size() == 1);
    REQUIRE(data[0].point_data_attr_.size() == 1);
    return nostd::get<Point>(data[0].point_data_attr_[0].point_data);
}

Metric one_of(MetricKind kind, std::string unit, double value) {
    return {.name = "sessionq.one",
            .description = "One.",
            .unit = std::move(unit),
            .kind = kind,
            .points = {{.value = value}}};
}

std::int64_t whole(const sdk::ValueType& value) { return nostd::get<std::int64_t>(value); }
double real(const sdk::ValueType& value) { return nostd::get<double>(value); }

} // namespace

TEST_CASE("metric data: a counter is a monotonic sum with its names and attributes") {
    const Metric metric{
        .name = "sessionq.message.ended",
        .description = "Messages that ended.",
        .unit = "{message}",
        .kind = MetricKind::counter,
        .points = {
            {.attributes = {{"sessionq.outcome", "completed"}, {"queue", "\xFF"}}, .value = 7},
            {.attributes = {{"sessionq.outcome", "lost"}}, .value = 1}}};
    StartBook starts{made};
    const auto data = to_metric_data(metric, starts, made + 5s);
    REQUIRE(data.size() == 1);
    CHECK(data[0].instrument_descriptor.name_ == "sessionq.message.ended");
    CHECK(data[0].instrument_descriptor.description_ == "Messages that ended.");
    CHECK(data[0].instrument_descriptor.unit_ == "{message}");
    CHECK(data[0].instrument_descriptor.type_ == sdk::InstrumentType::kObservableCounter);
    CHECK(data[0].instrument_descriptor.value_type_ == sdk::InstrumentValueType::kLong);
    CHECK(data[0].aggregation_temporality == sdk::AggregationTemporality::kCumulative);
    CHECK(data[0].start_ts.time_since_epoch() == made.time_since_epoch());
    CHECK(data[0].end_ts.time_since_epoch() == (made + 5s).time_since_epoch());
    REQUIRE(data[0].point_data_attr_.size() == 2);
    const auto& first = data[0].point_data_attr_[0];
    CHECK(whole(nostd::get<sdk::SumPointData>(first.point_data).value_) == 7);
    CHECK(nostd::get<sdk::SumPointData>(first.point_data).is_monotonic_);
    REQUIRE(first.attributes.size() == 2);
    CHECK(nostd::get<std::string>(first.attributes.at("sessionq.outcome")) == "completed");
    CHECK(nostd::get<std::string>(first.attributes.at("queue")) == "\xEF\xBF\xBD");
}

TEST_CASE("metric data: what adds up is a sum that may fall, an age is a gauge") {
    const auto sum = only_point<sdk::SumPointData>(one_of(MetricKind::gauge, "{slot}", 3));
    CHECK_FALSE(sum.is_monotonic_);
    CHECK(whole(sum.value_) == 3);
    const auto age = only_point<sdk::LastValuePointData>(one_of(MetricKind::gauge, "s", 1.5));
    CHECK(age.is_lastvalue_valid_);
    CHECK(real(age.value_) == 1.5);
    CHECK(age.sample_ts_.time_since_epoch() == (made + 5s).time_since_epoch());
}

TEST_CASE("metric data: a histogram has its buckets, sum, minimum and maximum in seconds") {
    Metric metric = one_of(MetricKind::histogram, "s", 0);
    Histogram& lengths = metric.points[0].histogram;
    lengths.add(300ns);
    lengths.add(3ms);
    lengths.add(3ms);
    lengths.add(2h);
    const auto data = only_point<sdk::HistogramPointData>(metric);
    REQUIRE(data.counts_.size() == data.boundaries_.size() + 1);
    CHECK(data.boundaries_.front() == 1e-6);
    CHECK(data.boundaries_.back() == 3600);
    CHECK(data.counts_.front() == 1);
    CHECK(data.counts_.back() == 1);
    for (std::size_t i = 1; i < data.boundaries_.size(); ++i) {
        CHECK(data.counts_[i] == (data.boundaries_[i] == 0.005 ? 2 : 0));
    }
    CHECK(data.count_ == 4);
    CHECK(real(data.sum_) == doctest::Approx{7200.0060003});
    CHECK(data.record_min_max_);
    CHECK(real(data.min_) == doctest::Approx{3e-7});
    CHECK(real(data.max_) == doctest::Approx{7200});
    CHECK_FALSE(only_point<sdk::HistogramPointData>(one_of(MetricKind::histogram, "s", 0))
                    .record_min_max_); // of no length
}

TEST_CASE("metric data: points that begin anew stand apart from the others") {
    Metric metric = one_of(MetricKind::counter, "{message}", 9);
    metric.points[0].attributes = {{"queue", "orders"}};
    metric.points.push_back({.attributes = {{"queue", "bills"}}, .value = 9});
    StartBook starts{made};
    CHECK(to_metric_data(metric, starts, made + 5s).size() == 1);
    metric.points[1].value = 2;
    const auto data = to_metric_data(metric, starts, made + 10s);
    REQUIRE(data.size() == 2);
    CHECK(data[0].start_ts.time_since_epoch() == made.time_since_epoch());
    CHECK(data[1].start_ts.time_since_epoch() == (made + 5s).time_since_epoch());
    REQUIRE(data[1].point_data_attr_.size() == 1);
    CHECK(nostd::get<std::string>(data[1].point_data_attr_[0].attributes.at("queue")) == "bills");
}

TEST_CASE("metric data: a gauge that falls does not begin anew") {
    StartBook starts{made};
    Metric metric = one_of(MetricKind::gauge, "By", 4096);
    (void)to_metric_data(metric, starts, made + 5s);
    metric.points[0].value = 0;
    const auto data = to_metric_data(metric, starts, made + 10s);
    REQUIRE(data.size() == 1);
    CHECK(data[0].start_ts.time_since_epoch() == made.time_since_epoch());
}
