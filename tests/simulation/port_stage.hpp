#pragma once

#include "simulation/sim_endpoint.hpp"
#include "simulation/stage.hpp"

namespace sessionq::simulation {

/// A broker and a port that are simulated themselves: what goes wrong goes wrong at the seam, by
/// the seed's choice.
class PortStage final : public Stage {
public:
    PortStage(std::uint64_t seed, Trace trace, const Setup& setup);

    [[nodiscard]] std::vector<ports::Endpoint*> endpoints() override;
    void close() override;

private:
    void send(const std::string& entity, const std::string& session) override {
        server_.send(entity, session);
    }
    void hold_foreign(const std::string&, const std::string&) override {
    } // marking it as held is enough
    void make_trouble() override;
    void mend() override;

    SimServer server_;
    std::vector<std::unique_ptr<SimEndpoint>> endpoints_;
};

} // namespace sessionq::simulation
