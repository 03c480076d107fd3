// SPDX-License-Identifier: MIT
#include "processor/shared_state.hpp"

#include <sessionq/operation_context.hpp>

#include "core/log.hpp"
#include "core/log_events.hpp"

namespace sessionq::detail::processor {

namespace {

std::string_view event_of(ErrorSource source) noexcept {
    switch (source) {
    case ErrorSource::accept: return core::events::accept_failed;
    case ErrorSource::session_open: return core::events::session_open_failed;
    case ErrorSource::message_handler: return core::events::handler_failed;
    case ErrorSource::session_close: return core::events::session_close_failed;
    case ErrorSource::settlement: return core::events::settlement_failed;
    case ErrorSource::lock_renewal: return core::events::lock_not_kept;
    case ErrorSource::link: return core::events::session_lost;
    case ErrorSource::failure_policy: return core::events::failure_policy_failed;
    case ErrorSource::session_record: return core::events::session_record_failed;
    case ErrorSource::executor: return core::events::executor_failed;
    }
    return "failed";
}

/// Empty for zero, which stands for no number.
std::string digits(std::int64_t number) { return number == 0 ? "" : std::to_string(number); }

/// If `on_error` tells the application, the log repeats the error at debug only.
LogLevel level_of(const ErrorContext& context, bool is_told) noexcept {
    const bool costs_nothing = context.fate == MessageFate::tried_again;
    return is_told ? LogLevel::debug : costs_nothing ? LogLevel::info : LogLevel::warning;
}

void log_error(const ErrorContext& context, bool is_told) noexcept {
    core::log_event(level_of(context, is_told), "processor", event_of(context.source),
                    {{"entity", context.entity},
                     {"session", context.session_id},
                     {"message_id", context.message_id},
                     {"sequence", digits(context.sequence_number), true},
                     {"attempt", digits(context.attempt), true},
                     {"code", to_string(context.failure.code)},
                     {"fate", context.fate == MessageFate::none ? "" : to_string(context.fate)}},
                    context.to_string());
}

} // namespace

void SharedState::report(ErrorContext context) const {
    log_error(context, static_cast<bool>(handlers.error));
    if (!handlers.error) {
        return;
    }
    const OperationContext::DetachedScope detached; // the error concerns the session, not a request
    // The workers of an executor that failed may not come to run it.
    core::Executor& runs =
        context.source == ErrorSource::executor ? *environment.notifier : *environment.workers;
    runs.post([handler = handlers.error, context = std::move(context)] {
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
        core::log_event(news->state == Health::State::healthy ? LogLevel::info : LogLevel::warning,
                        "processor", core::events::health_changed,
                        {{"state", to_string(news->state)}}, line);
        if (handler) {
            handler(*news);
        }
    });
}

} // namespace sessionq::detail::processor
