// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// How lengths of time are distributed. A value. Its buckets are log-linear: 32 of them between a
/// power of two and the next, in nanoseconds. So memory does not grow with the number of lengths,
/// and a reported length differs from the real one by at most `relative_error`.
///
/// Range: zero to 19 hours. A negative length counts as zero, a longer one falls into the last
/// bucket. Without a length it takes no memory beside itself, else 11 KiB.
///
/// Example:
///
///     Histogram waits;
///     waits.add(std::chrono::microseconds{250});
///     waits.add(std::chrono::milliseconds{3});
///     std::cout << "half of them took less than " << waits.quantile(0.5).count() << " ns\n";
///     for (const Histogram::Bucket& bucket : waits.buckets()) {
///         std::cout << bucket.count << " up to " << bucket.upper.count() << " ns\n";
///     }
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read.
class Histogram {
public:
    Histogram() = default;

    /// Of `quantile` and `count_up_to`.
    static constexpr double relative_error = 1.0 / 64;

    using Seconds = std::chrono::duration<double>;

    /// The lengths of a range, and how many there are.
    struct Bucket {
        Duration lower{}; ///< The shortest length that it counts.
        Duration upper{}; ///< The longest length that it counts.
        std::uint64_t count{0};
    };

    /// Counts a length.
    void add(Duration length);
    /// Adds all that `other` has counted.
    Histogram& operator+=(const Histogram& other);

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Of all lengths, exact but for the rounding of `double`.
    [[nodiscard]] Seconds sum() const noexcept {
        return std::chrono::duration<double, Duration::period>{sum_};
    }
    /// The shortest length, exact. Zero if there is none.
    [[nodiscard]] Duration min() const noexcept { return count_ == 0 ? Duration::zero() : min_; }
    /// The longest length, exact. Zero if there is none.
    [[nodiscard]] Duration max() const noexcept { return max_; }

    /// The length that the share `rank` of all lengths does not exceed: 0.5 is the median, 0.99 the
    /// 99th percentile. Range of `rank`: 0 to 1; a rank beyond counts as 0 or 1. Zero and one: the
    /// exact minimum and maximum. Zero if there is no length.
    [[nodiscard]] Duration quantile(double rank) const noexcept;

    /// How many lengths are at most `bound`. Those nearer to it than `relative_error` may be
    /// counted on the wrong side.
    [[nodiscard]] std::uint64_t count_up_to(Duration bound) const noexcept;

    /// The buckets that have counted something, shortest first.
    [[nodiscard]] std::vector<Bucket> buckets() const;

private:
    friend struct detail::client::Access;

    Histogram(std::vector<std::uint64_t> counts, double sum, Duration min, Duration max);

    std::vector<std::uint64_t> counts_{}; ///< empty: nothing was counted
    std::uint64_t count_{0};
    double sum_{0}; ///< in ticks of `Duration`
    Duration min_{Duration::max()};
    Duration max_{};
};

} // namespace sessionq::inline v1
