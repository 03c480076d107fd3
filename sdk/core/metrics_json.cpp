// SPDX-License-Identifier: MIT
#include <sessionq/metrics.hpp>

#include <nlohmann/json.hpp>

#include "core/peer_words.hpp"

namespace sessionq::inline v1 {
namespace {

double seconds(Duration length) { return std::chrono::duration<double>{length}.count(); }

void add_histogram(nlohmann::ordered_json& point, const Histogram& lengths) {
    point["count"] = lengths.count();
    point["sum"] = lengths.sum().count();
    point["min"] = seconds(lengths.min());
    point["max"] = seconds(lengths.max());
    point["p50"] = seconds(lengths.quantile(0.5));
    point["p90"] = seconds(lengths.quantile(0.9));
    point["p99"] = seconds(lengths.quantile(0.99));
    auto& buckets = point["buckets"] = nlohmann::ordered_json::array();
    for (const Histogram::Bucket& bucket : lengths.buckets()) {
        buckets.push_back({{"upper", seconds(bucket.upper)}, {"count", bucket.count}});
    }
}

nlohmann::ordered_json point_json(MetricKind kind, const MetricPoint& point) {
    auto attributes = nlohmann::ordered_json::object();
    for (const MetricAttribute& attribute : point.attributes) {
        attributes[attribute.name] = attribute.value;
    }
    nlohmann::ordered_json whole{{"attributes", std::move(attributes)}};
    if (kind == MetricKind::histogram) {
        add_histogram(whole, point.histogram);
    } else {
        whole["value"] = point.value;
    }
    return whole;
}

} // namespace

std::string to_json(const Metrics& metrics) {
    auto all = nlohmann::ordered_json::array();
    for (const Metric& metric : metrics.all()) {
        auto points = nlohmann::ordered_json::array();
        for (const MetricPoint& point : metric.points) {
            points.push_back(point_json(metric.kind, point));
        }
        all.push_back({{"name", metric.name},
                       {"description", metric.description},
                       {"unit", metric.unit},
                       {"kind", to_string(metric.kind)},
                       {"points", std::move(points)}});
    }
    return core::escape_peer_words(
        all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace sessionq::inline v1
