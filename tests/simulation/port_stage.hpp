// SPDX-License-Identifier: MIT
#pragma once

#include "simulation/sim_endpoint.hpp"
#include "simulation/stage.hpp"

namespace sessionq::simulation {

/// A simulated broker and a simulated port. Faults happen at the seam; the seed chooses them.
class PortStage final : public Stage {
public:
    PortStage(std::uint64_t seed, Trace trace, const Setup& setup);

    [[nodiscard]] std::vector<ports::Endpoint*> endpoints() override;
    void close() override;
    void kill_consumer() override;
    void revive_consumer() override;
    void bury() override;

private:
    void connect();
    void send(const std::string& entity, const std::string& session) override {
        server_.send(entity, session);
    }
    void hold_foreign(const std::string&, const std::string&) override {
    } // to mark it as held is enough
    void make_trouble() override;
    void mend() override;

    SimServer server_;
    std::vector<std::unique_ptr<SimEndpoint>> endpoints_;
    std::vector<std::unique_ptr<SimEndpoint>> dead_;
};

} // namespace sessionq::simulation
