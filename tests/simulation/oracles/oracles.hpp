#pragma once

#include <memory>

#include "simulation/environment.hpp"
#include "simulation/expectations.hpp"

// The oracles (a) to (n): each is a rule of its own file, but (m), which the ledger has: a store has what was committed.

namespace sessionq::simulation {

std::unique_ptr<Oracle> make_lease_oracle(
    Environment&,
    const Expectations&); ///< (a) one live lease a session; slots within the limit; R19
std::unique_ptr<Oracle> make_order_oracle(Environment&, const Expectations&); ///< (b) R6, R7
std::unique_ptr<Oracle> make_settlement_oracle(
    Environment&,
    const Expectations&); ///< (c) R8, R10, nothing lost, nothing twice
std::unique_ptr<Oracle> make_expiry_oracle(Environment&, const Expectations&);   ///< (d) R13
std::unique_ptr<Oracle> make_renewal_oracle(Environment&, const Expectations&);  ///< (d) R11
std::unique_ptr<Oracle> make_idle_oracle(Environment&, const Expectations&);     ///< (e) R1-R3
std::unique_ptr<Oracle> make_progress_oracle(Environment&, const Expectations&); ///< (f) R14
std::unique_ptr<Oracle> make_attempts_oracle(Environment&, const Expectations&); ///< (g) R17
std::unique_ptr<Oracle> make_stop_oracle(Environment&, const Expectations&);     ///< (h) R18
std::unique_ptr<Oracle> make_resource_oracle(Environment&, const Expectations&); ///< (i) R23
std::unique_ptr<Oracle> make_sending_oracle(
    Environment&, const Expectations&); ///< (j) what was confirmed to a sender
std::unique_ptr<Oracle> make_state_oracle(
    Environment&,
    const Expectations&); ///< (k) what handlers keep with their sessions
std::unique_ptr<Oracle> make_return_oracle(
    Environment&,
    const Expectations&); ///< (l) what is settled for good stays away, and counts go up only
std::unique_ptr<Oracle> make_schedule_oracle(
    Environment&, const Expectations&); ///< (n) what is to be available later

void add_all_oracles(Environment& environment, const Expectations& expectations);

} // namespace sessionq::simulation
