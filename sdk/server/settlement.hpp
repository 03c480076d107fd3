// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "amqp/engine/outcome.hpp"
#include "broker/settlement.hpp"
#include "server/conditions.hpp"

namespace sessionq::amqp {
class Value;
}

namespace sessionq::server {

/// The order to the broker that a peer's disposition stands for.
struct SettlementDecision {
    broker::Outcome outcome{broker::Outcome::complete};
    std::unique_ptr<broker::Changes> changes{}; ///< null for no changes
};

/// Returns nothing while the delivery is undecided. If `settled` without an outcome, the message is
/// released.
[[nodiscard]] std::optional<SettlementDecision> decide_settlement(const amqp::Outcome& said,
                                                                  bool settled);

/// Returns the answering outcome: of the same kind, and with an error only on failure. Clients
/// treat any error as a failure, and some insist on the kind.
[[nodiscard]] amqp::Outcome answer_settlement(const amqp::Outcome& said,
                                              std::optional<Errc> failed_with, LockKind lock);

/// Adds texts that are not empty to the reasons of a dead letter. `replaces`: in place of those
/// that are there.
void set_reasons(broker::Changes& changes, std::string_view reason, std::string_view description,
                 bool replaces);

/// Reads properties to modify from a map. The two dead-letter names go to `to.dead_letter`. Entries
/// whose key is not a string or symbol are ignored.
void read_changes(const amqp::Value& map, broker::Changes& to);

} // namespace sessionq::server
