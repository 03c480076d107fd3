// SPDX-License-Identifier: MIT
#include "simulation/sim_store.hpp"

#include <algorithm>

#include "broker/store/schema.hpp"
#include "broker/store/store_reader.hpp"

namespace sessionq::simulation {
namespace {

broker::Database& prepared(broker::Database& database) {
    broker::DamageReport damage;
    if (const auto fault = broker::prepare_store(database, "memory", false, damage)) {
        throw Error{*fault};
    }
    return database;
}

template <typename Kind>
bool is(const broker::Change& change) {
    return std::holds_alternative<Kind>(change);
}

} // namespace

SimStore::SimStore(const Scheduler& scheduler, SeamDefect defect)
    : scheduler_{&scheduler},
      defect_{defect},
      codec_{{.now = scheduler.now(), .wall = scheduler.wall_now()}},
      database_{":memory:"},
      writer_{prepared(database_), codec_, {}} {}

void SimStore::commit(std::vector<broker::Change> changes) {
    spoil(changes);
    broker::ChangeSet set;
    for (broker::Change& change : changes) {
        set.add(std::move(change));
    }
    if (!set.empty()) {
        writer_.commit(set);
    }
}

std::vector<broker::DurableQueue> SimStore::read() {
    broker::DamageReport damage;
    auto read = broker::read_store(database_, codec_, scheduler_->wall_now(), damage);
    if (!damage.empty()) {
        throw Error{{.code = Errc::protocol_error, .detail = damage.text()}};
    }
    return std::move(read.queues);
}

void SimStore::spoil(std::vector<broker::Change>& changes) const {
    switch (defect_) {
    case SeamDefect::forgets_removals: std::erase_if(changes, is<broker::MessageRemoved>); break;
    case SeamDefect::forgets_changes: std::erase_if(changes, is<broker::MessageChanged>); break;
    case SeamDefect::forgets_states: std::erase_if(changes, is<broker::SessionStateSet>); break;
    case SeamDefect::forgets_messages:
        if (const auto found = std::ranges::find_if(changes, is<broker::MessageAdded>);
            found != changes.end()) {
            changes.erase(found);
        }
        break;
    default: break;
    }
}

} // namespace sessionq::simulation
