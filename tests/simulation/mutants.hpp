// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "simulation/mutated.hpp"
#include "simulation/seam_defect.hpp"

namespace sessionq::simulation {

/// One deliberate defect: an entry of the lists in `mutants/`, or a defect of a seam.
struct Mutant {
    const char* name;
    bool seen_by_port;
    bool seen_by_network;
    const char* scenario; ///< the one that meets it most often; empty: each in turn
    SeamDefect defect{SeamDefect::none};
};

/// Null if no mutant has this name.
[[nodiscard]] const Mutant* find_mutant(std::string_view name);

struct MutantHunt {
    std::uint64_t budget{1}; ///< seeds a mutant
    bool network{false};
    unsigned jobs{1};
    std::string_view only{}; ///< the name of the one mutant to run; empty: all
};

/// Runs each mutant until an oracle catches it and prints how many seeds that took. Returns false
/// if one escaped.
[[nodiscard]] bool catch_mutants(const MutantHunt& hunt);

} // namespace sessionq::simulation
