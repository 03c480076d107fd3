// SPDX-License-Identifier: MIT
#pragma once

#include "faults/script.hpp"
#include "faults/verdict.hpp"

namespace sessionq::faults {

struct NetworkCampaignOptions {
    Script script{};
    std::uint64_t seed{1};
    Duration length{std::chrono::seconds{180}}; ///< how long messages flow; the script's length
    std::uint32_t sessions{18};
    std::uint32_t producers{2};
    std::uint32_t consumers{3};
    std::uint32_t rate{300};   ///< messages a second of all producers together
    std::string events_file{}; ///< file for the consumers' events; empty: none
};

/// Producers, consumers and an onlooker use one proxy to a broker in this process while the script
/// runs. Now and then a new consumer replaces another.
[[nodiscard]] Verdict run_network_campaign(const NetworkCampaignOptions& options);

} // namespace sessionq::faults
