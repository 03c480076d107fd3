// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faults/verdict.hpp"

namespace sessionq::faults {

struct PoisonCampaignOptions {
    std::string sessionqd{}; ///< the broker's program
    std::string consumer{};  ///< the program whose `consume-poison` runs a consumer
    std::string directory{}; ///< for logs; its contents are removed
    std::uint64_t seed{1};
    std::size_t rounds{200};
    std::uint32_t deaths{3};
    std::uint32_t sessions{4};
    std::uint32_t messages{8}; ///< of each session and round
};

/// In each round, messages that kill their consumer are among the others. Consumers with a crash
/// guard are started until the queue is empty.
[[nodiscard]] Verdict run_poison_campaign(const PoisonCampaignOptions& options);

/// The main function of such a consumer: consumes until SIGTERM, or dies of a message.
[[nodiscard]] int run_poison_consumer(const std::string& connection, const std::string& log_file,
                                      std::uint32_t deaths);

} // namespace sessionq::faults
