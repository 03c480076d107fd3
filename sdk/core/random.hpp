// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq::core {

/// A small seeded generator (SplitMix64), for example for jitter. Passed in, so that a simulation
/// replays. Not for secrets. Not thread-safe.
class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_{seed} {}

    std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    /// Uniform in [0, bound). Returns 0 if `bound` is 0.
    std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : next() % bound; }

    /// Uniform in [0, 1).
    double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    // The requirements of UniformRandomBitGenerator.
    using result_type = std::uint64_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~0ULL; }
    result_type operator()() noexcept { return next(); }

private:
    std::uint64_t state_;
};

} // namespace sessionq::core
