// SPDX-License-Identifier: MIT
#include "processor/shared_state.hpp"

#include <sessionq/operation_context.hpp>

#include "core/log.hpp"
#include "core/peer_words.hpp"

namespace sessionq::processor {

void SharedState::report(ErrorContext context) const {
    core::log(LogLevel::info, "processor", to_string(context.source), " failed for entity '",
              context.entity, "', session '", core::peer_words(context.session_id),
              "': ", context.failure.to_string());
    if (!handlers.error) {
        return;
    }
    const OperationContext::DetachedScope detached; // it tells of the session, not of a request
    environment.workers->post([handler = handlers.error, context = std::move(context)] {
        try {
            handler(context);
        } catch (...) {
            core::log(LogLevel::error, "processor", "on_error threw");
        }
    });
}

void SharedState::tell_health(std::size_t shard, Health found) const {
    const OperationContext::DetachedScope detached;
    environment.notifier->post([shard, found = std::move(found), board = health,
                                handler = handlers.health_changed]() mutable {
        const Health* const news = board->put(shard, std::move(found));
        if (news == nullptr) {
            return;
        }
        std::string line{to_string(news->state)};
        for (const HealthReason& reason : news->reasons) {
            line += "; " + reason.to_string();
        }
        core::log(news->state == Health::State::healthy ? LogLevel::info : LogLevel::warning,
                  "processor", line);
        if (handler) {
            handler(*news);
        }
    });
}

} // namespace sessionq::processor
