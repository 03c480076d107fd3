// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/recent_histograms.hpp"

#include <algorithm>
#include <chrono>
#include <map>

namespace sessionq::cli {
namespace {

constexpr double median = 0.5;
constexpr double most = 0.9;
constexpr double nearly_all = 0.99;

/// The upper bound of the bucket that the quantile is in.
double quantile_of(const HistogramSnapshot& histogram, double part) {
    const double wanted = part * static_cast<double>(histogram.count);
    std::uint64_t seen = 0;
    for (const HistogramSnapshot::Bucket& bucket : histogram.buckets) {
        seen += bucket.count;
        if (static_cast<double>(seen) >= wanted) {
            return bucket.upper;
        }
    }
    return histogram.max;
}

/// Subtracts the counts of `before` from those of `now`.
HistogramSnapshot difference(const HistogramSnapshot* before, const HistogramSnapshot& now) {
    std::map<double, std::uint64_t> counted; // by the upper bound
    for (const HistogramSnapshot::Bucket& bucket : now.buckets) {
        counted[bucket.upper] += bucket.count;
    }
    const bool restarted = before == nullptr || before->count > now.count;
    if (!restarted) {
        for (const HistogramSnapshot::Bucket& bucket : before->buckets) {
            std::uint64_t& count = counted[bucket.upper];
            count -= std::min(count, bucket.count);
        }
    }
    HistogramSnapshot found{.name = now.name,
                            .attributes = now.attributes,
                            .sum = restarted ? now.sum : now.sum - before->sum,
                            .min = -1};
    for (const auto& [upper, count] : counted) {
        if (count != 0) {
            found.count += count;
            found.max = upper;
            found.buckets.push_back({upper, count});
        }
    }
    found.p50 = quantile_of(found, median);
    found.p90 = quantile_of(found, most);
    found.p99 = quantile_of(found, nearly_all);
    return found;
}

} // namespace

void RecentHistograms::add(const std::vector<HistogramSnapshot>& histograms, TimePoint now) {
    constexpr Duration apart = std::chrono::seconds{1};
    const bool replaces = looks_.size() > 1 && now - looks_[looks_.size() - 2].at < apart;
    if (replaces) {
        looks_.pop_back();
    }
    looks_.push_back({now, histograms});
    while (looks_.size() > 2 && now - looks_.front().at > window_) {
        looks_.pop_front();
    }
}

std::vector<HistogramSnapshot> RecentHistograms::recent() const {
    std::vector<HistogramSnapshot> found;
    if (looks_.size() > 1) {
        for (const HistogramSnapshot& each : looks_.back().histograms) {
            found.push_back(difference(find_same(looks_.front().histograms, each), each));
        }
    }
    return found;
}

Duration RecentHistograms::length() const {
    return looks_.empty() ? Duration::zero() : looks_.back().at - looks_.front().at;
}

const HistogramSnapshot* find_same(const std::vector<HistogramSnapshot>& histograms,
                                   const HistogramSnapshot& like) {
    const auto found =
        std::find_if(histograms.begin(), histograms.end(), [&like](const HistogramSnapshot& each) {
            return each.name == like.name && each.attributes == like.attributes;
        });
    return found != histograms.end() ? &*found : nullptr;
}

} // namespace sessionq::cli
