#pragma once

#include <cstdint>

namespace sessionq::simulation {

/// Runs every deliberate defect until an oracle catches it, at most `budget` seeds each, and prints
/// how many it took. False: one escaped.
[[nodiscard]] bool catch_mutants(std::uint64_t budget, bool network, unsigned jobs);

} // namespace sessionq::simulation
