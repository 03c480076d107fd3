// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <sessionq/metrics.hpp>

namespace sessionq::core {

/// A metric without its points.
struct MetricName {
    std::string_view name;
    std::string_view description;
    std::string_view unit;
};

/// The attributes of all points of a client. `client_id`: empty if it has none.
[[nodiscard]] inline MetricAttributes common_attributes(std::string_view system,
                                                        std::string_view client_id) {
    MetricAttributes all{{"messaging.system", std::string{system}}};
    if (!client_id.empty()) {
        all.push_back({"messaging.client.id", std::string{client_id}});
    }
    return all;
}

/// Makes metrics whose points have attributes in common.
class MetricList {
public:
    explicit MetricList(MetricAttributes common) : common_{std::move(common)} {}

    void count(const MetricName& name, std::uint64_t value, const MetricAttributes& further = {}) {
        add(name, MetricKind::counter, {.value = static_cast<double>(value)}, further);
    }
    void gauge(const MetricName& name, double value, const MetricAttributes& further = {}) {
        add(name, MetricKind::gauge, {.value = value}, further);
    }
    void lengths(const MetricName& name, Histogram histogram,
                 const MetricAttributes& further = {}) {
        add(name, MetricKind::histogram, {.histogram = std::move(histogram)}, further);
    }

    [[nodiscard]] Metrics take() { return std::move(metrics_); }

private:
    void add(const MetricName& name, MetricKind kind, MetricPoint point,
             const MetricAttributes& further) {
        point.attributes = common_;
        point.attributes.insert(point.attributes.end(), further.begin(), further.end());
        Metric metric{.name = std::string{name.name},
                      .description = std::string{name.description},
                      .unit = std::string{name.unit},
                      .kind = kind};
        metric.points.push_back(std::move(point));
        metrics_.add(metric);
    }

    MetricAttributes common_;
    Metrics metrics_{};
};

} // namespace sessionq::core
