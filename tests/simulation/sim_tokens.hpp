// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "core/event_loop.hpp"
#include "server/claims.hpp"
#include "servicebus/token_source.hpp"
#include "simulation/environment.hpp"
#include "simulation/network_faults.hpp"

namespace sessionq::simulation {

/// Makes tokens that hold only their expiry, at once or after a while. Sometimes it fails.
class SimTokens final : public detail::servicebus::TokenSource {
public:
    SimTokens(Environment& environment, const NetworkFaults& faults, core::EventLoop& loop)
        : environment_{&environment}, faults_{&faults}, loop_{&loop} {}
    ~SimTokens() override { *here_ = false; }

    void ask(std::string_view audience, WallTime now, Deadline deadline, Handler handler) override;

    /// What a broker reads from a token.
    [[nodiscard]] static std::optional<WallTime> verify(std::string_view token,
                                                        std::string_view audience, WallTime now);

private:
    Environment* environment_;
    const NetworkFaults* faults_;
    core::EventLoop* loop_;
    std::shared_ptr<bool> here_{std::make_shared<bool>(true)}; ///< false once destroyed
};

} // namespace sessionq::simulation
