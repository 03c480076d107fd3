// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// Why a processor is not healthy. A minor version may add causes. Each states when it holds;
/// `advice` gives the remedy. The processor looks once a second, and whenever `describe` asks.
enum class HealthCause : std::uint8_t {
    /// No connection to the broker for longer than `HealthBounds::not_connected`.
    not_connected,
    /// The broker sent nothing, not even a heartbeat, for half of
    /// `ClientOptions::connection_idle_timeout`.
    broker_silent,
    /// The broker refuses to give sessions of the entity: at once for a reason that no retry mends
    /// (entity_not_found, unauthorized and others), otherwise for longer than
    /// `HealthBounds::accept_failing`. It is over when a session comes, or when the broker lets an
    /// accept wait for longer than a second. A named session that another receiver holds is none.
    accept_refused,
    /// The broker did not answer an accept within `SessionProcessorOptions::accept_wait` and 5 s
    /// more. It is over with the next answer.
    accept_unanswered,
    /// Faults ended three or more sessions of a slot in a row. It is over when the slot has held or
    /// awaited a session for longer than a second.
    sessions_lost,
    /// A session has messages that may start, and no worker took one for longer than
    /// `HealthBounds::workers_busy`. With `SessionProcessorOptions::executor` the workers are its
    /// works: they wait in the executor, or handlers keep all its threads, or it fails.
    workers_busy,
    /// Handlers of a session run, and none has finished for longer than
    /// `HealthBounds::handler_slow`.
    handler_slow,
    /// In the last minute a handler was given up without an end (`Completion` destroyed and never
    /// used), or ended twice. The first counts as failed, the second changes nothing.
    handler_misused,
    /// The broker answered none of a session's settlements for longer than
    /// `HealthBounds::settlement_unanswered`.
    settlement_unanswered,
    /// A renewal of a lock is not answered, and the lock ends in less than 5 s, or in less than a
    /// quarter of its length if that is sooner.
    renewal_late,
    /// Sessions have been parked for longer than `HealthBounds::sessions_parked`: messages failed
    /// and are retried later (`FailurePolicy`), or `on_session_open` failed. Nothing of them is
    /// handled. A session that is parked again counts from its last handler.
    sessions_parked,
    /// A session has been ready, and nobody held it, for longer than
    /// `HealthBounds::sessions_waiting`. Only a broker in this process tells.
    sessions_waiting,
    /// `SessionProcessorOptions::max_buffered_bytes` has been full for longer than
    /// `HealthBounds::buffer_full`.
    buffer_full,
    /// The broker's clock and this host's are 5 s or more apart. Locks show it, on brokers that
    /// tell when one ends (Azure Service Bus, sessionqd). It is over with the next lock or renewal
    /// that does not show it; if the broker's clock was ahead and is corrected, after up to two
    /// hours.
    clocks_differ,
    /// A receive thread did not answer `describe` within a second. Only `describe` tells it.
    thread_silent,
    /// A slot waits for nothing. A defect in sessionq. Please report it.
    internal_error,
};

/// For example "broker_silent".
[[nodiscard]] std::string_view to_string(HealthCause cause) noexcept;

/// Writes `to_string(cause)`.
std::ostream& operator<<(std::ostream& out, HealthCause cause);

/// The things to look at and to change, in a sentence or two.
[[nodiscard]] std::string_view advice(HealthCause cause) noexcept;

/// When a processor counts as not healthy. Range of all members: 1 s or more. Duration::max():
/// never.
///
/// Example:
///
///     SessionProcessor slow{
///         client, "orders", {.health = {.handler_slow = std::chrono::minutes{5}}}};
struct HealthBounds {
    Duration not_connected{std::chrono::seconds{5}};          ///< Default 5 s.
    Duration accept_failing{std::chrono::seconds{5}};         ///< Default 5 s.
    Duration workers_busy{std::chrono::seconds{10}};          ///< Default 10 s.
    Duration handler_slow{std::chrono::minutes{1}};           ///< Default 1 min.
    Duration settlement_unanswered{std::chrono::seconds{10}}; ///< Default 10 s.
    Duration buffer_full{std::chrono::seconds{10}};           ///< Default 10 s.
    Duration sessions_parked{std::chrono::seconds{10}};       ///< Default 10 s.
    Duration sessions_waiting{std::chrono::seconds{30}};      ///< Default 30 s.
};

/// One cause at one entity.
///
/// Example:
///
///     const Health health = processor.describe().health;
///     for (const HealthReason& reason : health.reasons) {
///         if (reason.cause != HealthCause::handler_slow) {
///             std::cerr << reason.to_string() << '\n' << advice(reason.cause) << '\n';
///         }
///     }
struct HealthReason {
    HealthCause cause{HealthCause::internal_error};
    std::string entity{};     ///< Empty: it concerns no entity, or several at once.
    std::string session_id{}; ///< A session that it concerns, for longest. Empty: none.
    std::string detail{};     ///< The finding, in words. It contains no secret.
    /// How many sessions, slots or connections it concerns.
    std::uint64_t count{1};
    Duration since{}; ///< How long the cause has lasted, of the one that lasts longest.

    /// One line for people.
    [[nodiscard]] std::string to_string() const;
};

/// The health of a processor. It is derived from events that should happen and do not. A cause that
/// is gone leaves no trace.
///
/// Example:
///
///     processor.on_health_changed([](const Health& health) {
///         if (health.state != Health::State::healthy) {
///             std::cerr << health.to_string();
///         }
///     });
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct Health {
    /// How well it works.
    enum class State : std::uint8_t {
        healthy,
        degraded, ///< Something is wrong. `reasons` names it.
        /// Nothing can be handled until someone acts: the broker refuses every entity for a reason
        /// that no retry mends, or a receive thread does not answer.
        failed,
    };
    State state{State::healthy};
    std::vector<HealthReason> reasons{}; ///< Empty: healthy.

    /// Several lines for people: the state, and each reason with its advice.
    [[nodiscard]] std::string to_string() const;
};

/// For example "degraded".
[[nodiscard]] std::string_view to_string(Health::State state) noexcept;

/// Writes `to_string(state)`.
std::ostream& operator<<(std::ostream& out, Health::State state);

} // namespace sessionq::inline v1
