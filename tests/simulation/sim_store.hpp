// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "broker/store/change_writer.hpp"
#include "server/stored_content.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/seam_defect.hpp"

namespace sessionq::simulation {

/// What outlives a broker: the product's own store with a database in memory. Its owner decides
/// when a change is written; in the product a thread and a disk do.
class SimStore {
public:
    SimStore(const Scheduler& scheduler, SeamDefect defect);

    void commit(std::vector<broker::Change> changes);
    [[nodiscard]] std::vector<broker::DurableQueue> read();

private:
    void spoil(std::vector<broker::Change>& changes) const;

    const Scheduler* scheduler_;
    SeamDefect defect_;
    server::StoredContent codec_;
    broker::Database database_;
    broker::ChangeWriter writer_;
};

} // namespace sessionq::simulation
