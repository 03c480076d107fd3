// SPDX-License-Identifier: MIT
#include "telemetry/metric_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/histogram_bounds.hpp"
#include "core/utf8.hpp"

namespace sessionq::telemetry {
namespace {

namespace sdk = opentelemetry::sdk::metrics;
using opentelemetry::common::SystemTimestamp;

/// Gauges in seconds do not add up, see `Metrics::add`.
sdk::InstrumentType type_of(const Metric& metric) {
    switch (metric.kind) {
    case MetricKind::counter: return sdk::InstrumentType::kObservableCounter;
    case MetricKind::histogram: return sdk::InstrumentType::kHistogram;
    case MetricKind::gauge: break;
    }
    return metric.unit == "s" ? sdk::InstrumentType::kObservableGauge
                              : sdk::InstrumentType::kObservableUpDownCounter;
}

bool is_whole(const Metric& metric) { return metric.unit != "s"; }

sdk::ValueType number(const Metric& metric, double value) {
    return is_whole(metric) ? sdk::ValueType{static_cast<std::int64_t>(std::llround(value))}
                            : sdk::ValueType{value};
}

double seconds(Duration length) { return std::chrono::duration<double>{length}.count(); }

sdk::HistogramPointData histogram_of(const Histogram& from) {
    sdk::HistogramPointData data;
    data.boundaries_.assign(core::histogram_bounds.begin(), core::histogram_bounds.end());
    std::uint64_t below = 0;
    for (const double bound : data.boundaries_) {
        const std::uint64_t up_to = from.count_up_to(core::length_of(bound));
        data.counts_.push_back(up_to - below);
        below = up_to;
    }
    data.counts_.push_back(from.count() - below);
    data.count_ = from.count();
    data.sum_ = from.sum().count();
    data.record_min_max_ = from.count() != 0;
    data.min_ = seconds(from.min());
    data.max_ = seconds(from.max());
    return data;
}

sdk::PointType point_of(const Metric& metric, const MetricPoint& point, WallTime now) {
    switch (type_of(metric)) {
    case sdk::InstrumentType::kHistogram: return histogram_of(point.histogram);
    case sdk::InstrumentType::kObservableGauge: {
        sdk::LastValuePointData data;
        data.value_ = number(metric, point.value);
        data.is_lastvalue_valid_ = true;
        data.sample_ts_ = SystemTimestamp{now};
        return data;
    }
    default: break;
    }
    sdk::SumPointData data;
    data.value_ = number(metric, point.value);
    data.is_monotonic_ = metric.kind == MetricKind::counter;
    return data;
}

sdk::PointAttributes attributes_of(const MetricPoint& point) {
    sdk::PointAttributes attributes;
    for (const MetricAttribute& each : point.attributes) {
        const std::string value = core::valid_utf8(each.value);
        attributes.SetAttribute(each.name, opentelemetry::nostd::string_view{value});
    }
    return attributes;
}

/// The sum of a metric that counts up, and starts at zero when it begins anew. A gauge may fall.
double total_of(const Metric& metric, const MetricPoint& point) {
    switch (metric.kind) {
    case MetricKind::counter: return point.value;
    case MetricKind::histogram: return static_cast<double>(point.histogram.count());
    case MetricKind::gauge: break;
    }
    return 0;
}

} // namespace

std::vector<sdk::MetricData> to_metric_data(const Metric& metric, StartBook& starts, WallTime now) {
    std::map<WallTime, std::vector<sdk::PointDataAttributes>> points;
    for (const MetricPoint& each : metric.points) {
        const WallTime start = starts.start(metric.name, each, total_of(metric, each), now);
        points[start].push_back({attributes_of(each), point_of(metric, each, now)});
    }
    std::vector<sdk::MetricData> data;
    for (auto& [start, of_start] : points) {
        data.push_back({{metric.name, metric.description, metric.unit, type_of(metric),
                         is_whole(metric) ? sdk::InstrumentValueType::kLong
                                          : sdk::InstrumentValueType::kDouble},
                        sdk::AggregationTemporality::kCumulative,
                        SystemTimestamp{start},
                        SystemTimestamp{now},
                        std::move(of_start)});
    }
    return data;
}

} // namespace sessionq::telemetry
