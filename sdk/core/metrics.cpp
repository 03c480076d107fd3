// SPDX-License-Identifier: MIT
#include <sessionq/metrics.hpp>

#include <algorithm>

namespace sessionq::inline v1 {
namespace {

bool has_all(const MetricPoint& point, const MetricAttributes& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&point](const MetricAttribute& each) {
        return std::find(point.attributes.begin(), point.attributes.end(), each) !=
               point.attributes.end();
    });
}

void add_point(Metric& metric, const MetricPoint& point) {
    const auto same =
        std::find_if(metric.points.begin(), metric.points.end(), [&point](const MetricPoint& each) {
            return each.attributes == point.attributes;
        });
    if (same == metric.points.end()) {
        metric.points.push_back(point);
        return;
    }
    // Ages of two processors have no sum.
    const bool is_age = metric.kind == MetricKind::gauge && metric.unit == "s";
    same->value = is_age ? std::max(same->value, point.value) : same->value + point.value;
    same->histogram += point.histogram;
}

} // namespace

const Metric* Metrics::find(std::string_view name) const noexcept {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [name](const Metric& each) { return each.name == name; });
    return found == all_.end() ? nullptr : &*found;
}

double Metrics::value(std::string_view name, const MetricAttributes& with) const {
    double sum = 0;
    if (const Metric* const metric = find(name)) {
        for (const MetricPoint& point : metric->points) {
            sum += has_all(point, with) ? point.value : 0;
        }
    }
    return sum;
}

Histogram Metrics::histogram(std::string_view name, const MetricAttributes& with) const {
    Histogram whole;
    if (const Metric* const metric = find(name)) {
        for (const MetricPoint& point : metric->points) {
            if (has_all(point, with)) {
                whole += point.histogram;
            }
        }
    }
    return whole;
}

void Metrics::add(const Metric& metric) {
    auto found = std::find_if(all_.begin(), all_.end(),
                              [&metric](const Metric& each) { return each.name == metric.name; });
    if (found == all_.end()) {
        found = all_.insert(found, Metric{.name = metric.name,
                                          .description = metric.description,
                                          .unit = metric.unit,
                                          .kind = metric.kind});
    }
    for (const MetricPoint& point : metric.points) {
        add_point(*found, point);
    }
}

Metrics& Metrics::operator+=(const Metrics& other) {
    if (this == &other) {
        return *this += Metrics{other};
    }
    for (const Metric& metric : other.all_) {
        add(metric);
    }
    return *this;
}

} // namespace sessionq::inline v1
