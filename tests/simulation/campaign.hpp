#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "simulation/run.hpp"

namespace sessionq::simulation {

/// Many seeds, on some threads, each world apart from the others.
struct Campaign {
    std::uint64_t first_seed{1};
    std::uint64_t seeds{1};
    std::string scenario{}; ///< empty: each in turn
    bool network{false};
    MutantName mutant{};
    SeamDefect defect{SeamDefect::none};
    unsigned jobs{1};
    bool until_first{false}; ///< ends once a violation was found

    struct Outcome {
        std::uint64_t run{0};
        std::uint64_t violations{0};
        std::uint64_t steps{0};
        std::uint64_t handlers{0};
    };

    using Found = std::function<void(std::uint64_t seed, const std::string& scenario,
                                     const Violation& violation)>;
    /// `found` is called for each violation, one at a time, in no particular order of the seeds.
    [[nodiscard]] Outcome run(const Found& found) const;
};

} // namespace sessionq::simulation
