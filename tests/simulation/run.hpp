// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulation/mutated.hpp"
#include "simulation/oracle.hpp"
#include "simulation/seam_defect.hpp"
#include "simulation/trace.hpp"

namespace sessionq::simulation {

struct RunRequest {
    std::uint64_t seed{0};
    std::string scenario{};
    bool network{false}; ///< the product's own port, server and broker instead of simulated ones
    MutantName mutant{};
    SeamDefect defect{SeamDefect::none};
    Trace::Sink trace{};
};

struct RunResult {
    std::optional<Violation> violation{};
    std::uint64_t steps{0};
    std::uint64_t handlers{0};
    Duration virtual_time{};
};

/// Runs one world from its first step to its last. The same request gives the same run. A world
/// with a violation is not torn down, because a broken consumer might not survive that.
[[nodiscard]] RunResult run_world(const RunRequest& request);

/// The scenario of a seed if none is requested: each in turn.
[[nodiscard]] const std::string& scenario_of(std::uint64_t seed, bool network);

} // namespace sessionq::simulation
