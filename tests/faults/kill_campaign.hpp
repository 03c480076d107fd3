// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "faults/consumer.hpp"
#include "faults/verdict.hpp"

namespace sessionq::faults {

struct KillCampaignOptions {
    std::string sessionqd{}; ///< the broker's program
    std::string consumer{};  ///< the program whose `consume` runs a consumer
    std::string directory{}; ///< for logs; created
    /// kills the broker in every second round; its data is in `directory`
    bool kills_broker{false};
    bool suspends{
        false}; ///< suspends consumers for longer than their locks last, instead of killing them
    std::uint64_t seed{1};
    std::size_t rounds{100};
    std::uint32_t sessions{18};
    std::uint32_t producers{2};
    std::uint32_t consumers{3};
    std::uint32_t rate{600}; ///< messages a second of all producers together
};

/// Kills or suspends consumer processes while messages flow, and the broker too if asked.
[[nodiscard]] Verdict run_kill_campaign(const KillCampaignOptions& options);

/// The main function of a consumer process: consumes until SIGTERM and returns the exit code.
[[nodiscard]] int run_consumer(const ConsumerOptions& options, const std::string& log_file);

} // namespace sessionq::faults
