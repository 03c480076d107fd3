// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::core {

/// The buckets of a `Histogram`. Lengths below 64 ns have a bucket each. From there on each power
/// of two has 32 of equal width, so a bucket is at most a 32nd of its lengths wide.
struct HistogramBuckets {
    static constexpr unsigned precision = 5; ///< bits of a length that its bucket keeps
    static constexpr unsigned longest_bits = 46;
    static constexpr std::uint64_t longest = (std::uint64_t{1} << longest_bits) - 1;
    static constexpr std::size_t count = std::size_t{longest_bits - precision + 1} << precision;

    /// A length as it is counted.
    [[nodiscard]] static constexpr std::uint64_t ticks(Duration length) noexcept {
        return static_cast<std::uint64_t>(std::max(length, Duration::zero()).count());
    }

    [[nodiscard]] static constexpr std::size_t index(Duration length) noexcept {
        const std::uint64_t value = std::min(ticks(length), longest);
        // Or-ing gives short lengths the shift of the first power of two.
        const auto bits = static_cast<unsigned>(std::bit_width(value | (1U << precision)));
        const unsigned shift = bits - precision - 1;
        return (std::size_t{shift} << precision) + static_cast<std::size_t>(value >> shift);
    }

    [[nodiscard]] static constexpr Duration lower(std::size_t index) noexcept {
        const std::size_t row = index >> precision;
        if (row == 0) {
            return Duration{static_cast<Duration::rep>(index)};
        }
        const std::uint64_t kept = (index & ((1U << precision) - 1)) | (1U << precision);
        return Duration{static_cast<Duration::rep>(kept << (row - 1))};
    }

    [[nodiscard]] static constexpr Duration upper(std::size_t index) noexcept {
        return lower(index + 1) - Duration{1};
    }

    [[nodiscard]] static constexpr Duration middle(std::size_t index) noexcept {
        return lower(index) + (upper(index) - lower(index)) / 2;
    }
};

} // namespace sessionq::core
