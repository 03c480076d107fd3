// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "simulation/run.hpp"

namespace sessionq::simulation {

/// Runs many seeds on several threads. The worlds share nothing.
struct Campaign {
    std::uint64_t first_seed{1};
    std::uint64_t seeds{1};
    std::string scenario{}; ///< empty: each in turn
    bool network{false};
    MutantName mutant{};
    SeamDefect defect{SeamDefect::none};
    unsigned jobs{1};
    bool until_first{false}; ///< stops at the first violation

    struct Outcome {
        std::uint64_t run{0};
        std::uint64_t violations{0};
        std::uint64_t steps{0};
        std::uint64_t handlers{0};
    };

    using Found = std::function<void(std::uint64_t seed, const std::string& scenario,
                                     const Violation& violation)>;
    /// Calls `found` for each violation, one call at a time, in any order of the seeds.
    [[nodiscard]] Outcome run(const Found& found) const;
};

} // namespace sessionq::simulation
