#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <sessionq/deadline.hpp>
#include <sessionq/operation_context.hpp>

namespace sessionq {

namespace processor {
class SessionDriver;
}

/// Why a processor left a session.
enum class CloseReason : std::uint8_t {
    idle,            ///< Nothing was in flight for the idle timeout, and the broker had no more.
    released,        ///< The application asked for it (`SessionContext::release`).
    stopped,         ///< The processor stops.
    max_hold,        ///< It kept its slot for `max_hold`.
    max_messages,    ///< It had its `max_messages_per_turn`.
    limit_lowered,   ///< `max_concurrent_sessions` was lowered.
    parked,          ///< The failure policy parked it.
    dead_lettered,   ///< The failure policy dead-lettered the rest of it.
    open_failed,     ///< `on_session_open` threw.
    lock_lost,       ///< The lease expired, could not be renewed, or was taken by the broker.
    connection_lost, ///< The link or connection ended, or the entity was deleted or disabled.
    unresponsive,    ///< The broker did not answer in time.
};

[[nodiscard]] std::string_view to_string(CloseReason reason) noexcept;

/// A session while a processor holds it, as handlers see it.
///
/// Valid in the handlers it is passed to, until they return (coroutines: until they finish); so are
/// the strings it shows.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe.
class SessionContext {
public:
    explicit SessionContext(processor::SessionDriver& driver) noexcept : driver_{&driver} {}

    [[nodiscard]] const std::string& session_id() const noexcept;
    [[nodiscard]] const std::string& entity() const noexcept;

    /// When the lease ends unless it is renewed, which happens by itself; never() where sessions
    /// are not locked by time.
    [[nodiscard]] Deadline lock_expires() const noexcept;

    /// Fires before the lock dies (R13), when the lease is lost, and shortly before the deadline of
    /// `SessionProcessor::stop`. Callbacks registered with it run on a thread that the processor
    /// keeps for these alone; while one runs, others wait.
    [[nodiscard]] std::stop_token stop_token() const noexcept;

    /// Asks to leave the session after the handlers that run now; what has not started is released.
    /// Returns at once.
    void release() noexcept;

    /// The bytes kept with the session at the broker, if any. Blocks until answered, at most until
    /// the deadline in scope (in a handler: the lease's end); 60 s without one. Errors: the
    /// broker's (see `Errc`), lock_lost, session_not_found, message_too_large.
    [[nodiscard]] std::optional<std::string> state(
        const OperationContext& context = OperationContext::current());

    /// Replaces the state; no value clears it. Blocks and fails like `state`.
    void set_state(std::optional<std::string> state,
                   const OperationContext& context = OperationContext::current());

    /// For the awaitable twins.
    [[nodiscard]] processor::SessionDriver& driver() const noexcept { return *driver_; }

private:
    processor::SessionDriver* driver_;
};

} // namespace sessionq
