// SPDX-License-Identifier: MIT
#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {

void add_all_oracles(Environment& environment, const Expectations& expectations) {
    for (const auto make : {make_lease_oracle,    make_order_oracle,    make_settlement_oracle,
                            make_expiry_oracle,   make_renewal_oracle,  make_idle_oracle,
                            make_progress_oracle, make_attempts_oracle, make_stop_oracle,
                            make_resource_oracle, make_sending_oracle,  make_state_oracle,
                            make_return_oracle,   make_schedule_oracle, make_delay_oracle,
                            make_pause_oracle,    make_batch_oracle,    make_guard_oracle,
                            make_redrive_oracle,  make_deferred_oracle}) {
        environment.oracles.add(make(environment, expectations));
    }
}

} // namespace sessionq::simulation
