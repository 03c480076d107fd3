#pragma once

#include "faults/script.hpp"
#include "faults/verdict.hpp"

namespace sessionq::faults {

struct NetworkCampaignOptions {
    Script script{};
    std::uint64_t seed{1};
    Duration length{std::chrono::seconds{180}}; ///< of the load; the script's time
    std::uint32_t sessions{18};
    std::uint32_t producers{2};
    std::uint32_t consumers{3};
    std::uint32_t rate{300};   ///< messages a second, all producers together
    std::string events_file{}; ///< where to write down what consumers saw; empty: nowhere
};

/// Producers, consumers and somebody who looks on, all of them through one proxy to a broker in
/// this process, while the script has its way. Now and then a consumer is stopped and another takes
/// its place.
[[nodiscard]] Verdict run_network_campaign(const NetworkCampaignOptions& options);

} // namespace sessionq::faults
