// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <vector>

#include <sessionq/time.hpp>

#include "tools/sessionq/live/processor_snapshot.hpp"

namespace sessionq::cli {

/// Histograms of the recent past. A processor tells totals since its start. The difference of two
/// looks covers the time between them. The class reads no clock.
class RecentHistograms {
public:
    /// `window`: how far it looks back.
    explicit RecentHistograms(Duration window) : window_{window} {}

    void add(const std::vector<HistogramSnapshot>& histograms, TimePoint now);

    /// The difference of the newest look and the oldest one of the window. Quantiles and `max` are
    /// upper bounds of buckets. `min` is below zero: not known. Empty before the second look.
    [[nodiscard]] std::vector<HistogramSnapshot> recent() const;
    /// The time between the two.
    [[nodiscard]] Duration length() const;

private:
    struct Look {
        TimePoint at{};
        std::vector<HistogramSnapshot> histograms{};
    };

    Duration window_;
    std::deque<Look> looks_{}; ///< Some of the window, a second or more apart; the last is newest.
};

/// The histogram of `histograms` with the same name and attributes as `like`, or null.
[[nodiscard]] const HistogramSnapshot* find_same(const std::vector<HistogramSnapshot>& histograms,
                                                 const HistogramSnapshot& like);

} // namespace sessionq::cli
