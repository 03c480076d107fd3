// SPDX-License-Identifier: MIT
#include <sessionq/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/histogram_buckets.hpp"

namespace sessionq::inline v1 {

Histogram::Histogram(std::vector<std::uint64_t> counts, double sum, Duration min, Duration max)
    : counts_{std::move(counts)},
      count_{std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0})},
      sum_{sum},
      min_{std::min(min, max)}, // they are read while another thread counts
      max_{max} {}

void Histogram::add(Duration length) {
    if (counts_.empty()) {
        counts_.resize(core::HistogramBuckets::count);
    }
    length = std::max(length, Duration::zero());
    ++counts_[core::HistogramBuckets::index(length)];
    ++count_;
    sum_ += static_cast<double>(length.count());
    min_ = std::min(min_, length);
    max_ = std::max(max_, length);
}

Histogram& Histogram::operator+=(const Histogram& other) {
    if (counts_.empty()) {
        *this = other;
        return *this;
    }
    if (!other.counts_.empty()) {
        std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                       std::plus<>{});
    }
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    return *this;
}

Duration Histogram::quantile(double rank) const noexcept {
    const double wanted = std::ceil(std::clamp(rank, 0.0, 1.0) * static_cast<double>(count_));
    if (wanted <= 1) {
        return min();
    }
    if (wanted >= static_cast<double>(count_)) {
        return max_;
    }
    std::uint64_t passed = 0;
    std::size_t index = 0;
    while (index < counts_.size() && static_cast<double>(passed += counts_[index]) < wanted) {
        ++index;
    }
    return std::clamp(core::HistogramBuckets::middle(index), min_, max_);
}

std::uint64_t Histogram::count_up_to(Duration bound) const noexcept {
    if (bound >= max_) {
        return count_;
    }
    if (bound < min_) {
        return 0;
    }
    const std::size_t last = core::HistogramBuckets::index(bound);
    const bool whole = core::HistogramBuckets::middle(last) <= bound;
    const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(last + (whole ? 1 : 0));
    return std::accumulate(counts_.begin(), end, std::uint64_t{0});
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
    std::vector<Bucket> used;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] != 0) {
            used.push_back({.lower = core::HistogramBuckets::lower(i),
                            .upper = core::HistogramBuckets::upper(i),
                            .count = counts_[i]});
        }
    }
    return used;
}

} // namespace sessionq::inline v1
