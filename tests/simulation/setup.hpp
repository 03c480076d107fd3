// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/batch_options.hpp>
#include <sessionq/processor_options.hpp>

#include "core/random.hpp"
#include "simulation/faults.hpp"
#include "simulation/network_faults.hpp"
#include "simulation/script.hpp"
#include "simulation/seam_defect.hpp"

namespace sessionq::simulation {

/// How messages reach the broker.
struct Sending {
    std::size_t clients{0}; ///< senders with connections of their own; zero: messages appear at the
                            ///< broker without a wire
    std::size_t batch{1};   ///< most messages in one send
    Duration timeout{std::chrono::seconds{15}};
};

/// Everything that makes a run. The seed decides it before the run begins.
struct Setup {
    SessionProcessorOptions options{};
    Faults faults{};
    ScriptMix scripts{};

    std::size_t loops{1};
    std::size_t workers{2};
    std::size_t entities{1};
    std::size_t sessions{8};      ///< of an entity
    std::size_t messages{8};      ///< most of a session
    std::size_t huge_messages{0}; ///< in a session of their own
    Duration arrivals_over{
        seconds{5}}; ///< messages come within this time; zero: all are there at the start
    Duration lock_length{seconds{30}}; ///< zero: locks do not expire
    Duration trouble_for{seconds{20}}; ///< faults and odd handlers end after this time
    std::size_t message_bytes{200};
    std::size_t foreign{0}; ///< sessions that another client holds meanwhile

    bool coroutines{false};
    std::optional<BatchOptions> batches{}; ///< unset: a handler gets one message
    bool open_handler{false};
    bool close_handler{false};
    unsigned open_throws{0};
    bool ties{false};       ///< messages arrive in the tick in which the idle clock is due
    bool stop_early{false}; ///< stops at a random instant amid the faults
    bool stop_twice{false};
    bool destroy_without_stop{false};
    Duration limits_every{}; ///< mean time between changes of the limits; zero: none
    Duration pauses_every{}; ///< mean time between pausing and resuming; zero: never
    Duration deaths_every{}; ///< mean time between kills of the consumer from outside; zero: none
    Duration dead_high{seconds{2}};          ///< the longest time until another one starts
    std::uint32_t max_deliveries{1'000'000}; ///< at the broker; with the product's own port only
    Duration stop_within{seconds{10}};
    // With the product's own port only.
    NetworkFaults network{};
    Sending sending{};
    std::size_t scheduled{0};        ///< scheduled messages; some are cancelled
    bool redrives{false};            ///< somebody redrives the dead letters of the first entity
    bool redrives_hold{true};        ///< and holds their sessions
    bool redrives_pause{false};      ///< at times so long that they lose a session
    Duration redrive_deaths_every{}; ///< mean time between kills of redrives; zero: none
    bool detects_duplicates{false};
    SeamDefect defect{SeamDefect::none};
    std::size_t fronts{1};             ///< receive threads of the broker
    Duration client_idle{seconds{30}}; ///< longest silence of the peer
    Duration server_idle{seconds{40}};
    std::size_t at_once{1000}; ///< deliveries, links or messages that the broker handles in one go
    Duration operation_timeout{seconds{15}};

    std::uint64_t most_steps{3'000'000}; ///< a run that takes more is stuck
    bool quiet{false};                   ///< no fault can happen and every handler is short
    bool locks_last{false};              ///< no fault ends a lock that is renewed

    /// The consumer is killed now and then.
    [[nodiscard]] bool consumer_dies() const noexcept {
        return deaths_every > Duration::zero() || scripts.kills != 0 || scripts.kills_once != 0;
    }
};

/// The setup of a seed in a scenario. Throws std::invalid_argument if the scenario does not exist.
[[nodiscard]] Setup make_setup(const std::string& scenario, core::Random& random);
[[nodiscard]] const std::vector<std::string>& scenario_names();

/// The same for the product's own port, server and broker over wires. There are more scenarios, and
/// faults of the seam become faults of the wires.
[[nodiscard]] Setup make_network_setup(const std::string& scenario, core::Random& random);
[[nodiscard]] const std::vector<std::string>& network_scenario_names();

} // namespace sessionq::simulation
