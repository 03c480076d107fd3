// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faults/verdict.hpp"

namespace sessionq::faults {

struct OperationsCampaignOptions {
    std::string sessionqd{}; ///< the broker's program
    std::string directory{}; ///< for its data; its contents are removed
    std::uint64_t seed{1};
    std::size_t rounds{60};
    std::size_t workers{8};
};

/// The broker is killed at random instants while messages are sent, scheduled, cancelled, received,
/// settled in every way and forwarded, and session states are set. A confirmed operation must have
/// happened. An operation in progress must have happened as a whole or not at all. Nothing else may
/// have happened.
[[nodiscard]] Verdict run_operations_campaign(const OperationsCampaignOptions& options);

} // namespace sessionq::faults
