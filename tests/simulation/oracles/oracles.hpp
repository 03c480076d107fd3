// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "simulation/environment.hpp"
#include "simulation/expectations.hpp"

// The oracles (a) to (t), one in each file. The ledger checks (m): a store has what was committed.

namespace sessionq::simulation {

std::unique_ptr<Oracle> make_lease_oracle(
    Environment&,
    const Expectations&); ///< (a) one holder a session; slots within the limit; R19
std::unique_ptr<Oracle> make_order_oracle(Environment&, const Expectations&); ///< (b) R6, R7
std::unique_ptr<Oracle> make_settlement_oracle(
    Environment&,
    const Expectations&); ///< (c) R8, R10; no message is lost or settled twice
std::unique_ptr<Oracle> make_expiry_oracle(Environment&, const Expectations&);   ///< (d) R13
std::unique_ptr<Oracle> make_renewal_oracle(Environment&, const Expectations&);  ///< (d) R11
std::unique_ptr<Oracle> make_idle_oracle(Environment&, const Expectations&);     ///< (e) R1-R3
std::unique_ptr<Oracle> make_progress_oracle(Environment&, const Expectations&); ///< (f) R14
std::unique_ptr<Oracle> make_attempts_oracle(Environment&, const Expectations&); ///< (g) R17
std::unique_ptr<Oracle> make_stop_oracle(Environment&, const Expectations&);     ///< (h) R18
std::unique_ptr<Oracle> make_resource_oracle(Environment&, const Expectations&); ///< (i) R23
std::unique_ptr<Oracle> make_sending_oracle(Environment&,
                                            const Expectations&); ///< (j) confirmed sends
std::unique_ptr<Oracle> make_state_oracle(Environment&,
                                          const Expectations&); ///< (k) states of sessions
std::unique_ptr<Oracle> make_return_oracle(
    Environment&,
    const Expectations&); ///< (l) settled messages do not return, and delivery counts only rise
std::unique_ptr<Oracle> make_schedule_oracle(Environment&,
                                             const Expectations&); ///< (n) scheduled messages
std::unique_ptr<Oracle> make_delay_oracle(Environment&,
                                          const Expectations&); ///< (o) delayed retries
std::unique_ptr<Oracle> make_pause_oracle(Environment&, const Expectations&);   ///< (p) pauses
std::unique_ptr<Oracle> make_batch_oracle(Environment&, const Expectations&);   ///< (q) batches
std::unique_ptr<Oracle> make_guard_oracle(Environment&, const Expectations&);   ///< (r) crash guard
std::unique_ptr<Oracle> make_redrive_oracle(Environment&, const Expectations&); ///< (s) redrives
std::unique_ptr<Oracle> make_deferred_oracle(Environment&, const Expectations&); ///< (t) deferred

void add_all_oracles(Environment& environment, const Expectations& expectations);

} // namespace sessionq::simulation
