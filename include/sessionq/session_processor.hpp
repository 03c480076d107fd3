#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sessionq/client.hpp>
#include <sessionq/deadline.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/session_context.hpp>

namespace sessionq {

namespace client {
class ProcessorRuntime;
}

/// Consumes the sessions of one or more entities: holds many sessions at once, handles the messages
/// of each in order, and rolls to the next session when one has been idle - nothing buffered,
/// running or being settled - for `session_idle_timeout` and the broker has no more of it.
///
/// Handlers run on worker threads of the processor and nowhere else, under an `OperationContext`
/// whose deadline is the lease's end or the message's own, whichever is sooner. A handler that
/// returns completes its message; one that throws leaves it to `ProcessorOptions::failure_policy`.
/// A handler is never interrupted: it is told through its stop token.
///
/// Lifetimes: the processor keeps its client alive. Its destructor stops it as `stop(5s)` does and
/// never hangs: a handler that still does not return is left to itself, with everything it uses,
/// until it does. What handlers refer to must outlive them.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for the `on_...` members, which go before `start`.
class SessionProcessor {
public:
    /// Checks the options and that the broker can do what they ask for. No I/O, no thread yet.
    /// Errors: invalid_option (by member), invalid_argument (no entity, an empty name, the same
    /// name twice), not_supported.
    SessionProcessor(const Client& client, std::string entity, ProcessorOptions options = {});

    /// One processor over several entities: each slot takes sessions of any of them, in turn.
    SessionProcessor(const Client& client, std::vector<std::string> entities,
                     ProcessorOptions options = {});

    ~SessionProcessor();
    SessionProcessor(SessionProcessor&&) noexcept;
    SessionProcessor& operator=(SessionProcessor&&) noexcept;

    /// Required before `start`. Each of the four replaces what was registered before. Errors of all
    /// four: invalid_state once started.
    void on_message(MessageHandler handler);

    /// Before the first message of a session. When it throws the session is left, and its messages
    /// go back uncounted.
    void on_session_open(std::function<void(SessionContext&)> handler);

    /// After the last handler of a session, also when its lease was lost; not when on_session_open
    /// did not run. The session is still held unless it was lost, so state can be saved.
    void on_session_close(std::function<void(SessionContext&, CloseReason)> handler);

    /// What went wrong outside of handlers, and what handlers threw. Runs on the workers too,
    /// several calls at once; what it throws is logged. Never called for "no session available"
    /// (R5).
    void on_error(std::function<void(const ErrorContext&)> handler);

    /// Starts threads and accepts. Returns at once. Errors: invalid_state (no on_message, or
    /// started before), resource_exhausted (no thread could be started).
    void start();

    /// Stops in phases: no more accepts, messages that no handler started go back uncounted,
    /// running handlers finish, sessions are given back. Returns when that is done, and by
    /// `timeout` at the latest (negative: as zero): their stop tokens fire shortly before; sessions
    /// whose handlers still run then are given up and the handlers counted in the report. From one
    /// of the processor's own handlers it only asks for all this and returns at once. Never throws;
    /// stopping again returns the same report, and while it stops an earlier end counts for both.
    StopReport stop(Duration timeout = std::chrono::seconds{30}) noexcept;

    /// Changes the limits while running; lower ones take effect as sessions and handlers finish.
    /// Errors: invalid_option (by member: what the options given at construction could not have
    /// had), invalid_state (not started).
    void update_limits(const ConcurrencyLimits& limits);

    /// What every slot does and waits for, health and totals. Blocks for a moment: it asks the
    /// receive threads, at most a second.
    [[nodiscard]] ProcessorDescription describe() const;

    /// Totals only; never blocks.
    [[nodiscard]] ProcessorCounters counters() const noexcept;

    /// The options given at construction, with the number of threads that `worker_threads` zero
    /// stood for. `update_limits` does not change them.
    [[nodiscard]] const ProcessorOptions& options() const noexcept;

private:
    std::unique_ptr<client::ProcessorRuntime> runtime_;
};

} // namespace sessionq
