#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>

#include "core/random.hpp"
#include "simulation/faults.hpp"
#include "simulation/network_faults.hpp"
#include "simulation/script.hpp"
#include "simulation/seam_defect.hpp"

namespace sessionq::simulation {

/// How messages come to the broker.
struct Sending {
    std::size_t clients{0}; ///< that send over connections of their own; zero: messages are there
                            ///< without having come over a wire
    std::size_t batch{1};   ///< most messages sent at once
    Duration timeout{std::chrono::seconds{15}};
};

/// Everything a run is made of, drawn from its seed before it begins.
struct Setup {
    ProcessorOptions options{};
    Faults faults{};
    ScriptMix scripts{};

    std::size_t loops{1};
    std::size_t workers{2};
    std::size_t entities{1};
    std::size_t sessions{8};      ///< an entity
    std::size_t messages{8};      ///< a session, at most
    std::size_t huge_messages{0}; ///< in one session of its own
    Duration arrivals_over{
        seconds{5}}; ///< messages come within it; zero: all are there at the start
    Duration lock_length{seconds{30}}; ///< zero: locks do not expire
    Duration trouble_for{seconds{20}}; ///< faults and odd handlers end after it
    std::size_t message_bytes{200};
    std::size_t foreign{0}; ///< sessions that somebody else holds meanwhile

    bool coroutines{false};
    bool open_handler{false};
    bool close_handler{false};
    unsigned open_throws{0};
    bool ties{false};       ///< messages arrive in the tick in which the idle clock is due
    bool stop_early{false}; ///< at a random instant amid the trouble
    bool stop_twice{false};
    bool destroy_without_stop{false};
    Duration limits_every{}; ///< mean time between changes of limits from outside; zero: none
    Duration stop_within{seconds{10}};
    // where the product's own port is used
    NetworkFaults network{};
    Sending sending{};
    std::size_t scheduled{0}; ///< messages that are scheduled, and some of them cancelled
    SeamDefect defect{SeamDefect::none};
    std::size_t fronts{1};             ///< receive threads of the broker
    Duration client_idle{seconds{30}}; ///< without a sign of the other side's life
    Duration server_idle{seconds{40}};
    Duration operation_timeout{seconds{15}};

    std::uint64_t most_steps{3'000'000}; ///< of a run that comes to rest
    bool quiet{false};                   ///< no fault can happen and every handler is short
};

/// The setup of a seed in a scenario; throws std::invalid_argument naming a scenario that does not
/// exist.
[[nodiscard]] Setup make_setup(const std::string& scenario, core::Random& random);
[[nodiscard]] const std::vector<std::string>& scenario_names();

/// The same where the product's own port, server and broker are used over wires: there are more
/// scenarios, and what goes wrong at the seam in the others goes wrong on the wires here.
[[nodiscard]] Setup make_network_setup(const std::string& scenario, core::Random& random);
[[nodiscard]] const std::vector<std::string>& network_scenario_names();

} // namespace sessionq::simulation
