// SPDX-License-Identifier: MIT
#include <sessionq/metrics.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/histogram_bounds.hpp"
#include "core/utf8.hpp"

namespace sessionq::inline v1 {
namespace {

/// A text that reads back as the same number.
std::string number(double value) {
    if (!std::isfinite(value)) {
        return std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    }
    std::array<char, 64> text{};
    const double size = std::abs(value);
    const bool is_handy = size == 0 || (size >= 1e-9 && size < 1e17);
    const auto end = is_handy ? std::to_chars(text.data(), text.data() + text.size(), value,
                                              std::chars_format::fixed)
                              : std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end.ptr};
}

std::string escaped(std::string_view text, bool quotes) {
    std::string result;
    while (!text.empty()) {
        const auto character = core::first_character(text);
        const std::size_t size = character ? character->size : 1;
        if (!character) {
            result += "\xEF\xBF\xBD";
        } else if (text.front() == '\\') {
            result += "\\\\";
        } else if (text.front() == '\n') {
            result += "\\n";
        } else if (quotes && text.front() == '"') {
            result += "\\\"";
        } else {
            result += text.substr(0, size);
        }
        text.remove_prefix(size);
    }
    return result;
}

/// Letters, digits and underscores, and no digit first.
std::string plain_name(std::string_view name) {
    std::string result{name};
    std::replace_if(
        result.begin(), result.end(),
        [](char each) {
            return !((each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                     (each >= '0' && each <= '9'));
        },
        '_');
    if (result.empty() || (result.front() >= '0' && result.front() <= '9')) {
        result.insert(0, 1, '_');
    }
    return result;
}

std::string family_name(const Metric& metric) {
    std::string name = plain_name(metric.name);
    if (metric.unit == "s") {
        name += "_seconds";
    } else if (metric.unit == "By") {
        name += "_bytes";
    }
    return metric.kind == MetricKind::counter ? name + "_total" : name;
}

std::string_view type_name(MetricKind kind) {
    switch (kind) {
    case MetricKind::counter: return "counter";
    case MetricKind::gauge: return "gauge";
    case MetricKind::histogram: return "histogram";
    }
    return "untyped";
}

class Rendering {
public:
    void add(const Metric& metric) {
        const std::string name = family_name(metric);
        text_ +=
            "# HELP " + name + " " + escaped(metric.description, false) + "\n# TYPE " + name + " ";
        text_ += type_name(metric.kind);
        text_ += '\n';
        for (const MetricPoint& point : metric.points) {
            if (metric.kind == MetricKind::histogram) {
                add_histogram(name, point);
            } else {
                add_line(name, point.attributes, {}, number(point.value));
            }
        }
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    void add_histogram(const std::string& name, const MetricPoint& point) {
        const auto bucket = [&](const std::string& bound, std::uint64_t count) {
            add_line(name + "_bucket", point.attributes, bound, std::to_string(count));
        };
        for (const double bound : core::histogram_bounds) {
            bucket(number(bound), point.histogram.count_up_to(core::length_of(bound)));
        }
        bucket("+Inf", point.histogram.count());
        add_line(name + "_sum", point.attributes, {}, number(point.histogram.sum().count()));
        add_line(name + "_count", point.attributes, {}, std::to_string(point.histogram.count()));
    }

    /// `bound`: of a bucket; else empty.
    void add_line(const std::string& name, const MetricAttributes& attributes,
                  const std::string& bound, const std::string& value) {
        text_ += name;
        std::string_view before = "{";
        const auto label = [&](std::string_view key, std::string_view of) {
            text_ += before;
            text_ += key;
            text_ += "=\"";
            text_ += escaped(of, true);
            text_ += '"';
            before = ",";
        };
        for (const MetricAttribute& each : attributes) {
            label(plain_name(each.name), each.value);
        }
        if (!bound.empty()) {
            label("le", bound);
        }
        text_ += before == "," ? "} " : " ";
        text_ += value;
        text_ += '\n';
    }

    std::string text_{};
};

} // namespace

std::string to_prometheus(const Metrics& metrics) {
    Rendering rendering;
    for (const Metric& metric : metrics.all()) {
        rendering.add(metric);
    }
    return rendering.take();
}

} // namespace sessionq::inline v1
