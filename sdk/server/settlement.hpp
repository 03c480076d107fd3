#pragma once

#include <memory>
#include <optional>

#include "amqp/outcome.hpp"
#include "broker/settlement.hpp"
#include "server/conditions.hpp"

namespace sessionq::amqp {
class Value;
}

namespace sessionq::server {

/// What a peer's disposition asks the broker to do.
struct SettlementDecision {
    broker::Outcome outcome{broker::Outcome::complete};
    std::unique_ptr<broker::Changes> changes{}; ///< null: none
};

/// Nothing: it decides nothing yet. `settled`: it is the peer's last word; without an outcome the
/// message goes back uncounted.
[[nodiscard]] std::optional<SettlementDecision> decide_settlement(const amqp::Outcome& said,
                                                                  bool settled);

/// The answer: the same kind of outcome, without an error where it was done, since clients take any
/// error for a failure and some insist on the kind.
[[nodiscard]] amqp::Outcome answer_settlement(const amqp::Outcome& said,
                                              std::optional<Errc> failed_with, LockKind lock);

/// Takes properties to modify from a map whose keys are strings or symbols; the two names of
/// dead-lettering go to their own place.
void read_changes(const amqp::Value& map, broker::Changes& to);

} // namespace sessionq::server
