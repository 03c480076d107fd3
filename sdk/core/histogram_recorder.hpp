// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <sessionq/histogram.hpp>

#include "core/access.hpp"
#include "core/histogram_buckets.hpp"

namespace sessionq::core {

/// A total that one thread counts and any thread reads. Counting is no atomic read-modify-write.
class OwnCount {
public:
    void add(std::uint64_t by = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t read() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// A histogram that one thread fills and any thread reads, without a lock and without memory of its
/// own beside itself. A copy that is read while it is filled may lack the last lengths.
class HistogramRecorder {
public:
    void add(Duration length) noexcept {
        if (length != last_) { // lengths that end in one turn of a loop are often equal
            note(length);
        }
        counts_[last_index_].add();
        sum_.store(sum_.load(std::memory_order_relaxed) + last_ticks_, std::memory_order_relaxed);
    }

    [[nodiscard]] Duration max() const noexcept {
        return Duration{static_cast<Duration::rep>(max_.load(std::memory_order_relaxed))};
    }

    void add_to(Histogram& whole) const {
        if (min_.load(std::memory_order_relaxed) == none) {
            return; // nothing was counted
        }
        std::vector<std::uint64_t> counts(counts_.size());
        std::ranges::transform(counts_, counts.begin(),
                               [](const OwnCount& each) { return each.read(); });
        whole += detail::client::Access::make<Histogram>(
            std::move(counts), sum_.load(std::memory_order_relaxed),
            Duration{static_cast<Duration::rep>(min_.load(std::memory_order_relaxed))}, max());
    }

private:
    void note(Duration length) noexcept {
        const std::uint64_t ticks = HistogramBuckets::ticks(length);
        last_ = length;
        last_index_ = HistogramBuckets::index(length);
        last_ticks_ = static_cast<double>(ticks);
        if (ticks < min_.load(std::memory_order_relaxed)) {
            min_.store(ticks, std::memory_order_relaxed);
        }
        if (ticks > max_.load(std::memory_order_relaxed)) {
            max_.store(ticks, std::memory_order_relaxed);
        }
    }

    static constexpr auto none = static_cast<std::uint64_t>(Duration::max().count());

    Duration last_{Duration::min()}; ///< the length added last
    std::size_t last_index_{0};
    double last_ticks_{0};
    std::atomic<double> sum_{0};
    std::atomic<std::uint64_t> min_{none};
    std::atomic<std::uint64_t> max_{0};
    std::array<OwnCount, HistogramBuckets::count> counts_{};
};

} // namespace sessionq::core
