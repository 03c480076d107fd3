#pragma once

#include <optional>

#include "core/event_loop.hpp"
#include "server/claims.hpp"
#include "servicebus/token_source.hpp"
#include "simulation/environment.hpp"
#include "simulation/network_faults.hpp"

namespace sessionq::simulation {

/// Tokens that say when they expire and nothing else, given at once or after a while, and now and
/// then not.
class SimTokens final : public servicebus::TokenSource {
public:
    SimTokens(Environment& environment, const NetworkFaults& faults, core::EventLoop& loop)
        : environment_{&environment}, faults_{&faults}, loop_{&loop} {}
    ~SimTokens() override { *here_ = false; }

    void ask(std::string_view audience, WallTime now, Deadline deadline, Handler handler) override;

    /// What a broker makes of one.
    [[nodiscard]] static std::optional<WallTime> verify(std::string_view token,
                                                        std::string_view audience, WallTime now);

private:
    Environment* environment_;
    const NetworkFaults* faults_;
    core::EventLoop* loop_;
    std::shared_ptr<bool> here_{std::make_shared<bool>(true)}; ///< false once destroyed
};

} // namespace sessionq::simulation
