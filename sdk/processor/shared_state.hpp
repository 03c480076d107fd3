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
#include "processor/session/held_sessions.hpp"
#include "processor/session/open_book.hpp"
#include "processor/session/session_count.hpp"
#include "processor/session/suspect_turn.hpp"
#include "processor/slots/target_claims.hpp"

namespace sessionq::processor {

/// What all shards of a processor and its workers share; only `held`, `suspects`, `open_failures`,
/// `parked` and `settling` change after start.
struct SharedState {
    ProcessorOptions options{};
    ports::Scope scope{ports::Scope::session}; ///< what each link holds
    std::vector<std::string> entities{};
    Handlers handlers{};
    Environment environment{};
    std::shared_ptr<HandlerFaults> faults{std::make_shared<HandlerFaults>()}; ///< of its handlers
    // Loops write it. Workers read what lies before: not in the same cache line.
    alignas(64) HeldSessions held{};
    SuspectTurn suspects{};
    OpenBook open_failures{};
    SessionCount parked{};                  ///< within `max_parked_sessions`
    SessionCount settling{};                ///< within `max_concurrent_sessions`
    std::unique_ptr<TargetClaims> claims{}; ///< of named sessions

    std::shared_ptr<HealthBoard> health{}; ///< the notifier's

    /// Tells the application, on a worker.
    void report(ErrorContext context) const;
    /// Tells it on the notifier, if that is news.
    void tell_health(std::size_t shard, Health found) const;
};

} // namespace sessionq::processor
