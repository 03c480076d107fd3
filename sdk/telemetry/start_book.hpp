// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <utility>

#include <sessionq/metrics.hpp>
#include <sessionq/time.hpp>

namespace sessionq::telemetry {

/// Decides since when each total counts. One that fell has begun anew since the collection before,
/// and consumers would take the difference for a negative rate.
class StartBook {
public:
    /// No total counts longer than since `now`, as far as consumers know.
    explicit StartBook(WallTime now) : made_{now} {}

    /// Call it once for each total of a collection. `total` of a histogram is its count.
    [[nodiscard]] WallTime start(const std::string& name, const MetricPoint& point, double total,
                                 WallTime now);

private:
    struct Entry {
        double total{0};
        WallTime start{};
        WallTime seen{}; ///< by the collection before
    };
    using Values = std::vector<std::pair<std::string, std::string>>;

    WallTime made_;
    std::map<std::pair<std::string, Values>, Entry> entries_{};
};

} // namespace sessionq::telemetry
