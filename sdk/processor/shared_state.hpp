// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>

#include "processor/environment.hpp"
#include "processor/handlers.hpp"
#include "processor/message/handler_faults.hpp"
#include "processor/report/health_board.hpp"
#include "processor/session/open_book.hpp"
#include "processor/session/session_count.hpp"
#include "processor/session/session_registry.hpp"
#include "processor/session/suspect_turn.hpp"
#include "processor/slots/target_claims.hpp"

namespace sessionq::detail::processor {

/// The state that the shards of a processor and its workers share. `Processor` makes it. After the
/// start, only `held`, `suspects`, `open_failures`, `parked` and `settling` change, and the objects
/// behind `faults`, `claims` and `health`.
struct SharedState {
    SessionProcessorOptions options{};
    ports::Scope scope{
        ports::Scope::session}; ///< whether a link holds a session or a share in an entity
    std::vector<std::string> entities{};
    Handlers handlers{};
    Environment environment{};
    std::shared_ptr<HandlerFaults> faults{
        std::make_shared<HandlerFaults>()}; ///< wrong uses of `Completion` by its handlers
    // Loops write the members below, and workers read the members above. So the members below start
    // a new cache line.
    alignas(64) SessionRegistry held{};
    SuspectTurn suspects{};
    OpenBook open_failures{};
    SessionCount parked{};                  ///< within `max_parked_sessions`
    SessionCount settling{};                ///< within `max_concurrent_sessions`
    std::unique_ptr<TargetClaims> claims{}; ///< on named sessions; null: no session is named

    std::shared_ptr<HealthBoard> health{}; ///< only the notifier uses it

    /// Writes an error to the log, and passes it to `on_error` on a worker. An error of the
    /// executor goes to the notifier.
    void report(ErrorContext context) const;
    /// Passes a shard's health to the notifier. If the health is news, the notifier tells the
    /// application and the log.
    void tell_health(std::size_t shard, Health found) const;
};

} // namespace sessionq::detail::processor
