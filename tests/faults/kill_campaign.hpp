#pragma once

#include <string>

#include "faults/consumer.hpp"
#include "faults/verdict.hpp"

namespace sessionq::faults {

struct KillCampaignOptions {
    std::string sessionqd{};  ///< the broker's program
    std::string consumer{};   ///< the program whose `consume` runs a consumer
    std::string directory{};  ///< for logs; made
    bool kills_broker{false}; ///< every second round, the broker instead of a consumer: it keeps
                              ///< its data in `directory`
    bool suspends{
        false}; ///< consumers are stopped for longer than their locks last, instead of killed
    std::uint64_t seed{1};
    std::size_t rounds{100};
    std::uint32_t sessions{18};
    std::uint32_t producers{2};
    std::uint32_t consumers{3};
    std::uint32_t rate{600}; ///< messages a second, all producers together
};

/// Consumers in processes of their own are killed, or suspended, while messages flow; so is the
/// broker, if asked for.
[[nodiscard]] Verdict run_kill_campaign(const KillCampaignOptions& options);

/// What a consumer's process does: consumes until SIGTERM. Its exit code.
[[nodiscard]] int run_consumer(const ConsumerOptions& options, const std::string& log_file);

} // namespace sessionq::faults
