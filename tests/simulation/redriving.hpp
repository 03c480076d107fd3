// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulation/redriving_client.hpp"
#include "simulation/setup.hpp"
#include "simulation/sim_loop.hpp"

namespace sessionq::simulation {

/// Somebody who redrives the dead letters of one entity, call after call, until none is left. Each
/// call is a process of its own, and may be killed at any step.
class Redriving {
public:
    struct Surroundings {
        Environment* environment;
        std::string entity;
        std::function<ports::EndpointPtr(SimLoop&)> connect;
        std::function<void()> cut; ///< the connections of a call end with its process
    };
    Redriving(Surroundings surroundings, const Setup& setup)
        : around_{std::move(surroundings)}, setup_{setup} {}

    /// Begins a call soon, and another one after it.
    void begin();
    void kill();
    /// No call is killed or pauses any more.
    void calm_down() noexcept { is_troubled_ = false; }
    [[nodiscard]] bool is_done() const;

    /// Begins no call any more and ends the one under way.
    void close();
    /// The receive threads of calls that were not killed.
    [[nodiscard]] std::vector<SimLoop*> loops() const;
    /// Destroys what was killed.
    void bury();

private:
    struct Process {
        std::unique_ptr<SimLoop> loop;
        std::unique_ptr<RedrivingClient> client{};
    };

    void call();
    [[nodiscard]] bool dies();
    [[nodiscard]] Duration some_pause();
    [[nodiscard]] RedrivingClient::Terms some_terms();

    Surroundings around_;
    Setup setup_;
    std::unique_ptr<Process> now_{}; ///< null: no call is under way
    std::vector<std::unique_ptr<Process>> ended_{};
    std::vector<std::unique_ptr<Process>> dead_{};
    bool is_troubled_{true};
    bool is_closed_{false};
};

} // namespace sessionq::simulation
