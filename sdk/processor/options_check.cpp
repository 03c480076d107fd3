// SPDX-License-Identifier: MIT
#include "processor/options_check.hpp"

#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_set>

#include <sessionq/error.hpp>

#include "core/id_check.hpp"
#include "core/negative_duration.hpp"
#include "core/session_id.hpp"

namespace sessionq::detail::processor {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void refuse(std::string_view member, const std::string& why) {
    throw Error{Errc::invalid_option, std::string{member} + ": " + why};
}

void in_range(std::string_view member, std::uint64_t value, std::uint64_t least,
              std::uint64_t most) {
    if (value < least || value > most) {
        refuse(member, std::to_string(value) + " is not within " + std::to_string(least) + " to " +
                           std::to_string(most));
    }
}

void not_negative(std::string_view member, Duration value) {
    if (value < Duration::zero()) {
        refuse(member, std::string{core::not_negative});
    }
}

void check_backoff(std::string_view member, const BackoffOptions& backoff) {
    if (backoff.min <= Duration::zero()) {
        refuse(std::string{member} + ".min", "is not over zero");
    }
    not_negative(std::string{member} + ".max", backoff.max);
    if (backoff.max < backoff.min) {
        refuse(std::string{member} + ".max", "is less than min");
    }
}

/// Rejects two ids that differ in case only. Called if they are one session for the broker.
void check_case(const std::vector<std::string>& session_ids) {
    std::unordered_set<std::string_view, core::SessionIdHash, core::SessionIdEqual> seen;
    for (const std::string& id : session_ids) {
        if (const auto [first, is_new] = seen.insert(id); !is_new) {
            refuse("session_ids",
                   "'" + std::string{*first} + "' and '" + id + "' are one session of this broker");
        }
    }
}

bool needs_session(FailurePolicy::Action action) noexcept {
    return action != FailurePolicy::Action::abandon && action != FailurePolicy::Action::dead_letter;
}

void check_policy(const std::string& member, const FailurePolicy& policy, bool removes,
                  ports::Scope scope) {
    if (scope == ports::Scope::entity && needs_session(policy.action)) {
        refuse(member, "must abandon or dead-letter: there is no session");
    }
    in_range(member + ".max_attempts", policy.max_attempts, 1, 1000);
    check_backoff(member + ".retry_delay", policy.retry_delay);
    if (policy.abandon_delay.min != Duration::zero()) {
        check_backoff(member + ".abandon_delay", policy.abandon_delay);
    }
    not_negative(member + ".park_for", policy.park_for);
    const bool is_later = policy.action == FailurePolicy::Action::retry_later;
    if (is_later && policy.retry_delays.empty()) {
        refuse(member + ".retry_delays", "is empty");
    }
    for (const Duration delay : policy.retry_delays) {
        if (delay <= Duration::zero() || delay > std::chrono::years{1}) {
            refuse(member + ".retry_delays", "a delay is not over zero to a year");
        }
    }
    if (removes && policy.action != FailurePolicy::Action::abandon) {
        refuse(member,
               "nothing is settled with receive_and_delete: only retries in place have an effect");
    }
}

void check_guard(const CrashGuard& guard, const SessionProcessorOptions& options) {
    in_range("crash_guard.deaths", guard.deaths, 2, 1000);
    not_negative("crash_guard.park_for", guard.park_for);
    if (options.receive_and_delete) {
        refuse("crash_guard", "has no effect with receive_and_delete: no message comes again");
    }
    if (options.max_concurrent_calls_per_session != 1) {
        refuse("crash_guard", "needs max_concurrent_calls_per_session 1");
    }
}

void check_health(const HealthBounds& bounds) {
    const auto check = [](std::string_view member, Duration bound) {
        not_negative("health." + std::string{member}, bound);
        if (bound < 1s) {
            refuse("health." + std::string{member}, "is less than 1 s");
        }
    };
    check("not_connected", bounds.not_connected);
    check("accept_failing", bounds.accept_failing);
    check("workers_busy", bounds.workers_busy);
    check("handler_slow", bounds.handler_slow);
    check("settlement_unanswered", bounds.settlement_unanswered);
    check("buffer_full", bounds.buffer_full);
    check("sessions_parked", bounds.sessions_parked);
    check("sessions_waiting", bounds.sessions_waiting);
}

void require_for(const FailurePolicy& policy, const ports::Capabilities& capabilities) {
    if (policy.action == FailurePolicy::Action::dead_letter ||
        policy.action == FailurePolicy::Action::dead_letter_session) {
        capabilities.require(ports::Capability::dead_letter);
    }
    if (policy.action == FailurePolicy::Action::retry_later) {
        capabilities.require(ports::Capability::session_state);
    }
}

/// The longest path that fits into the address of a local socket, in bytes.
constexpr std::size_t longest_socket_path = 107;

void check_socket(const std::string& path) {
    if (path.size() > longest_socket_path) {
        refuse("describe_socket", "has " + std::to_string(path.size()) + " bytes of " +
                                      std::to_string(longest_socket_path) + " at most");
    }
    if (path.find('\0') != std::string::npos) {
        refuse("describe_socket", "contains a null byte");
    }
}

constexpr std::uint64_t most_sessions = 100'000;
constexpr std::uint64_t most_calls_per_session = 10'000;
constexpr std::uint64_t most_calls = 1'000'000'000;

} // namespace

SessionProcessorOptions with_limits(SessionProcessorOptions options,
                                    const SessionProcessorLimits& limits) {
    options.max_concurrent_sessions =
        limits.max_concurrent_sessions.value_or(options.max_concurrent_sessions);
    options.max_concurrent_calls_per_session =
        limits.max_concurrent_calls_per_session.value_or(options.max_concurrent_calls_per_session);
    options.max_concurrent_calls =
        limits.max_concurrent_calls.value_or(options.max_concurrent_calls);
    options.session_idle_timeout =
        limits.session_idle_timeout.value_or(options.session_idle_timeout);
    options.prefetch = limits.prefetch.value_or(options.prefetch);
    return options;
}

void check_options(const SessionProcessorOptions& options, ports::Scope scope) {
    in_range("max_concurrent_sessions", options.max_concurrent_sessions, 1, most_sessions);
    in_range("max_concurrent_calls_per_session", options.max_concurrent_calls_per_session, 1,
             most_calls_per_session);
    in_range("max_concurrent_calls", options.max_concurrent_calls, 0, most_calls);
    not_negative("session_idle_timeout", options.session_idle_timeout);
    not_negative("max_hold", options.max_hold.value_or(Duration::zero()));
    in_range("max_parked_sessions", options.max_parked_sessions, 0, most_sessions);
    in_range("prefetch", options.prefetch, 0, 10'000);
    if (options.max_buffered_bytes < (std::size_t{64} << 10U)) {
        refuse("max_buffered_bytes",
               std::to_string(options.max_buffered_bytes) + " is less than 64 KiB");
    }
    in_range("worker_threads", options.worker_threads, 0, 1024);
    if (options.executor != nullptr && options.worker_threads != 0) {
        refuse("executor", "runs the handlers, so worker_threads must be 0");
    }
    if (options.accept_wait < 1ms || options.accept_wait > 1h) {
        refuse("accept_wait", "is not within 1 ms to 1 h");
    }
    not_negative("max_lock_renewal", options.max_lock_renewal);
    check_health(options.health);
    check_socket(options.describe_socket);
    check_backoff("error_backoff", options.error_backoff);
    check_policy("failure_policy", options.failure_policy, options.receive_and_delete, scope);
    if (options.crash_guard) {
        check_guard(*options.crash_guard, options);
    }
    if (options.receive_and_delete) {
        if (options.confirm_settlements) {
            refuse("confirm_settlements", "nothing is settled with receive_and_delete");
        }
        if (!options.auto_complete) {
            refuse("auto_complete", "nothing is settled with receive_and_delete");
        }
    }
    if (options.confirm_settlements && options.max_concurrent_calls_per_session != 1) {
        refuse("confirm_settlements", "needs max_concurrent_calls_per_session 1");
    }
    std::set<std::string_view> seen;
    for (const std::string& id : options.session_ids) {
        if (const std::string_view fault = core::id_fault(id); !fault.empty()) {
            refuse("session_ids", "an id " + std::string{fault});
        }
        if (!seen.insert(id).second) {
            refuse("session_ids", "'" + id + "' is there twice");
        }
    }
}

void check_batch(const BatchOptions& options) {
    in_range("max_messages", options.max_messages, 1, 10'000);
    if (options.max_wait < Duration::zero() || options.max_wait > 1h) {
        refuse("max_wait", "is not within 0 to 1 h");
    }
}

void check_entities(const std::vector<std::string>& entities) {
    if (entities.empty()) {
        throw Error{Errc::invalid_argument, "entities: none is named"};
    }
    std::set<std::string_view> seen;
    for (const std::string& entity : entities) {
        if (entity.empty()) {
            throw Error{Errc::invalid_argument,
                        "entities: a name is empty; name a queue or a subscription"};
        }
        if (!seen.insert(entity).second) {
            throw Error{Errc::invalid_argument, "entities: '" + entity + "' is there twice"};
        }
    }
}

void check_capabilities(const SessionProcessorOptions& options,
                        const ports::Capabilities& capabilities, ports::Scope scope) {
    using ports::Capability;
    capabilities.require(scope == ports::Scope::entity ? Capability::plain_entities
                         : options.session_ids.empty() ? Capability::accept_next
                                                       : Capability::accept_named);
    if (options.receive_and_delete) {
        capabilities.require(Capability::receive_and_delete);
    }
    require_for(options.failure_policy, capabilities);
    if (capabilities.has(Capability::session_ids_without_case)) {
        check_case(options.session_ids);
    }
    if (options.crash_guard && scope == ports::Scope::session) {
        capabilities.require(Capability::session_state);
        if (options.crash_guard->then == CrashGuard::Action::dead_letter) {
            capabilities.require(Capability::dead_letter);
        }
    }
}

void check_failure_policy(const std::string& member, const FailurePolicy& policy,
                          const SessionProcessorOptions& options,
                          const ports::Capabilities& capabilities, ports::Scope scope) {
    check_policy(member, policy, options.receive_and_delete, scope);
    require_for(policy, capabilities);
}

} // namespace sessionq::detail::processor
