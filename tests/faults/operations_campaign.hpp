#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faults/verdict.hpp"

namespace sessionq::faults {

struct OperationsCampaignOptions {
    std::string sessionqd{}; ///< the broker's program
    std::string directory{}; ///< for its data; what is in it is removed
    std::uint64_t seed{1};
    std::size_t rounds{60};
    std::size_t workers{8};
};

/// The broker is killed at random instants while messages are sent, scheduled, cancelled, received,
/// settled in every way and passed on, and sessions' states set. What was confirmed must have
/// happened, what was under way has happened as a whole or not at all, and nothing else may have.
[[nodiscard]] Verdict run_operations_campaign(const OperationsCampaignOptions& options);

} // namespace sessionq::faults
