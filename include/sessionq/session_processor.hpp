// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/batch_handler.hpp>
#include <sessionq/batch_options.hpp>
#include <sessionq/call_options.hpp>
#include <sessionq/callback.hpp>
#include <sessionq/client.hpp>
#include <sessionq/deadline.hpp>
#include <sessionq/failure_policy.hpp>
#include <sessionq/health.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/metrics.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/result.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_handler.hpp>

namespace sessionq::detail::client {
struct Access;
class ProcessorRuntime;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// Consumes the sessions of one or more entities. It holds many sessions at once and handles the
/// messages of each in order. It rolls to the next session when one has been idle for
/// `session_idle_timeout` and the broker has no more messages of it. Idle means that no message is
/// buffered, running or being settled.
///
/// Example:
///
///     SessionProcessor orders{client, "orders", {.max_concurrent_sessions = 64}};
///     orders.on_message([](MessageContext& context) {
///         std::cout << context.message().text() << '\n';
///     });
///     orders.start();
///     wait_for_signal();
///     const StopReport report = orders.stop(std::chrono::seconds{10});
///
/// Handlers run on the processor's worker threads, or on `SessionProcessorOptions::executor`, and
/// nowhere else. Each runs under an `OperationContext` with the deadline of its message. The end of
/// the lock is no deadline, because it moves with every renewal. A handler that returns completes
/// its message, unless `SessionProcessorOptions::auto_complete` is off. A handler that throws
/// leaves it to `SessionProcessorOptions::failure_policy`. A handler is never interrupted. Its stop
/// token tells it to stop, also shortly before a lock ends that cannot be renewed.
///
/// When a lock is lost, the broker may grant the session again, to this processor or to another.
/// Within one processor it waits until the handlers of the lost lock have returned. Another process
/// cannot know of them.
///
/// Lifetimes: the processor keeps its client alive. Its destructor stops it as `stop(5s)` does and
/// never hangs. A handler that does not return keeps everything it uses until it does. Objects that
/// handlers refer to must outlive them.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for the `on_...` functions. They must not run beside one another or
/// beside `start`.
class SessionProcessor {
public:
    /// Makes a processor of one entity. Checks the options, and that the broker supports them. It
    /// does no I/O and starts no thread.
    /// Errors: invalid_option (names the member), invalid_argument (`entity` is empty),
    /// not_supported.
    SessionProcessor(const Client& client, std::string entity,
                     SessionProcessorOptions options = {});

    /// Makes a processor of several entities. Each slot takes sessions of any of them. As long as a
    /// slot is free an accept waits at every entity; those that have sessions ready are served in
    /// turn. It does no I/O and starts no thread.
    /// Errors: invalid_option (names the member), invalid_argument (no entity, an empty name, a
    /// name twice), not_supported.
    SessionProcessor(const Client& client, std::vector<std::string> entities,
                     SessionProcessorOptions options = {});
    /// Makes a processor of several entities, whose names are in braces: `{client, {"orders",
    /// "returns"}}`. Each slot takes sessions of any of them. It does no I/O and starts no thread.
    /// Errors: invalid_option (names the member), invalid_argument (no entity, an empty name, a
    /// name twice), not_supported.
    SessionProcessor(const Client& client, std::initializer_list<std::string_view> entities,
                     SessionProcessorOptions options = {});

    ~SessionProcessor();
    SessionProcessor(SessionProcessor&&) noexcept;
    SessionProcessor& operator=(SessionProcessor&&) noexcept;

    /// Sets the handler of messages. It or `on_messages` is required before `start`; the later call
    /// replaces the earlier one. It may be called before `start` and after `stop`, and takes effect
    /// at the next start, which copies the handlers.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_message(MessageHandler handler);

    /// Sets a handler that gets several messages of one session in one call, in order, instead of
    /// `on_message`: up to `BatchOptions::max_messages`, or the messages that came within
    /// `BatchOptions::max_wait`. A batch is one handler for `SessionProcessorOptions` and
    /// `SessionProcessorLimits`. With one handler per session the next batch does not start before
    /// this one is settled.
    ///
    /// When it returns, all its messages are completed, but for those that it settled itself
    /// (`MessageContext::complete` and others). That includes those that it did not look at: to
    /// stop early, throw, or call `MessageContext::fail`. When it throws, its settlements stand.
    /// The first message that it did not settle has failed: `on_failure`, `on_error` and the
    /// failure policy see that one. The messages behind it that it did not settle return to the
    /// front of their session, in order and uncounted, and are handled again after that one. So a
    /// handler that calls `complete` for each message that is done says where it failed. If it had
    /// settled all, only `on_error` is called. With `SessionProcessorOptions::auto_complete` off, a
    /// handler that returns has failed in the same way if it left a message unsettled.
    ///
    /// It runs under an `OperationContext` with the soonest deadline of its messages, and with the
    /// trace context of its span if there is a tracer. A message past its own deadline is in no
    /// batch. A suspect of `SessionProcessorOptions::crash_guard` is alone in its batch.
    ///
    /// It may be called before `start` and after `stop`, and takes effect at the next start.
    /// Errors: invalid_option (names the member of `BatchOptions`), invalid_state (the processor
    /// was started and has not stopped).
    ///
    /// Example:
    ///
    ///     processor.on_messages(
    ///         [](std::span<MessageContext> batch) {
    ///             std::cout << batch.size() << " messages of session "
    ///                       << batch.front().session().session_id() << '\n';
    ///         },
    ///         {.max_messages = 500, .max_wait = std::chrono::milliseconds{50}});
    void on_messages(BatchHandler handler, BatchOptions options = {});

    /// Sets the handler that runs before the first message of a session. If it fails, the processor
    /// parks the session: it leaves it, its messages return uncounted, and it waits longer each
    /// time (`SessionProcessorOptions::error_backoff`). It fails if it throws, and one that
    /// finishes later also by `Completion::failed` or without a call of its `Completion`.
    ///
    /// A function occupies a worker until it returns. `coroutine` of <sessionq/async.hpp> and
    /// `SessionOpenHandler::started_by` make handlers that wait without a worker. An empty handler
    /// removes the one that was set. It may be called before `start` and after `stop`, and takes
    /// effect at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    ///
    /// Example:
    ///
    ///     processor.on_session_open([](SessionContext& session) {
    ///         if (!session.state()) {
    ///             session.set_state("opened");
    ///         }
    ///     });
    void on_session_open(SessionOpenHandler handler);

    /// Sets the handler that runs after the last message handler of a session, also if its lock was
    /// lost. It does not run if `on_session_open` did not run. The session is still locked unless
    /// the lock was lost, so the handler can save state. If it fails, `on_error` is called, and the
    /// processor leaves the session all the same. A function occupies a worker until it returns.
    /// `coroutine` of <sessionq/async.hpp> and `SessionCloseHandler::started_by` make handlers that
    /// wait without a worker. An empty handler removes the one that was set. It may be called
    /// before `start` and after `stop`, and takes effect at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_session_close(SessionCloseHandler handler);

    /// Sets the function that chooses a policy for a failure: by the exception, the attempt or the
    /// delivery count. It runs after a message handler failed, unless the handler had settled the
    /// message: on the worker, or on the thread that used or destroyed the handler's `Completion`.
    /// If it throws or returns an invalid policy, `on_error` is called and
    /// `SessionProcessorOptions::failure_policy` applies. It may be called before `start` and after
    /// `stop`, and takes effect at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    ///
    /// Example:
    ///
    ///     processor.on_failure([](const FailureContext& failure) {
    ///         try {
    ///             std::rethrow_exception(failure.exception);
    ///         } catch (const std::invalid_argument&) {
    ///             return FailurePolicy::dead_letter(); // it will never succeed
    ///         } catch (...) {
    ///             return failure.configured;
    ///         }
    ///     });
    void on_failure(Callback<FailurePolicy(const FailureContext&)> choose);

    /// Sets the handler of errors: failures outside of handlers, and exceptions of handlers.
    /// Several workers may run it at once. Errors of `ErrorSource::executor` come on the
    /// processor's notifier thread instead. Its own exceptions are logged. "No session available"
    /// is not an error. The errors that this handler gets are in the log at level `debug` only.
    /// Without a handler an error is a warning there, or `info` if the message is tried again in
    /// place. It may be called before `start` and after `stop`, and takes effect at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_error(Callback<void(const ErrorContext&)> handler);

    /// Sets the function that is told of another `Health`: another state, or other causes. It runs
    /// on the processor's notifier thread, one call at a time, at most a second after the cause
    /// came or went, beside the bounds that `HealthCause` names. It should return soon, because
    /// stop tokens are fired there too. Its exceptions are logged. Each change is also logged. It
    /// may be called before `start` and after `stop`, and takes effect at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_health_changed(Callback<void(const Health&)> handler);

    /// Starts the threads and the accepts. Returns at once.
    ///
    /// After `stop` it may start again, with the options of the constructor and the handlers that
    /// are set. It must have stopped, and all message and session handlers of the earlier start
    /// must have returned: a stop that timed out, or that a handler requested, is not waited for.
    /// `describe` and `counters` tell of the last start.
    /// Errors: invalid_state (no handler of messages, started and not stopped, or handlers of the
    /// earlier start still run), resource_exhausted (no thread could be started), invalid_option
    /// (`describe_socket` cannot be opened; says why).
    void start();

    /// Pauses the processor until `resume`. Returns at once. No session is accepted any more, and
    /// every held session is left, parked ones included: messages that no handler started return
    /// uncounted, running handlers finish, the broker confirms their settlements,
    /// `on_session_close` runs (`CloseReason::paused`), and the session is given back. Stop tokens
    /// do not fire. A session that comes late is released at once.
    ///
    /// Each receive thread begins with that as soon as it has seen the request. From then on no
    /// message handler starts, except those that a worker has already taken. With
    /// `receive_and_delete` messages cannot return: those that have come are handled first.
    ///
    /// `describe` tells when the pause is complete: the slots are `paused`, and `parked` and
    /// `settling` are empty. No effect while it is paused. A handler of this processor may call it.
    /// `update_limits` and `stop` work meanwhile; new limits count from `resume`.
    /// Errors: invalid_state (not started, or stopped).
    void pause();

    /// Ends a pause: free slots accept sessions at once. A session that is still being left ends
    /// first, and then its slot accepts the next one. No effect unless paused. A handler of this
    /// processor may call it.
    /// Errors: invalid_state (not started, or stopped).
    void resume();

    /// Stops in phases: accepts end, messages that no handler started return uncounted, running
    /// handlers finish, sessions are given back. Returns when that is done, at the latest after
    /// `timeout`. Before that, the stop tokens of running handlers fire (`cancel_after`). At the
    /// timeout the processor gives up sessions whose handlers still run. The report counts the
    /// handlers that were cancelled, and those that are left.
    ///
    /// A handler of this processor may call it, also `on_health_changed`, and so may a callback of
    /// its stop tokens. It then only requests the stop and returns at once.
    /// Never throws. A second call returns the same report. While the processor stops, the earlier
    /// deadline applies to both calls.
    StopReport stop(const StopOptions& options = {}) noexcept;
    /// Stops the processor in the same way, at the latest after `timeout`: `stop({.timeout =
    /// timeout})`. Zero or negative: it does not wait. Never throws.
    template <typename Rep, typename Period>
    StopReport stop(std::chrono::duration<Rep, Period> timeout) noexcept {
        return stop(StopOptions{.timeout = timeout});
    }

    /// Where the processor is in its life: after a `stop` the state of that run, until the next
    /// `start`. Another thread may change it at any time. Never blocks.
    [[nodiscard]] ProcessorState state() const;

    /// Blocks until the processor has stopped, and returns the report of that stop. It does not
    /// stop the processor: another thread, a handler or a signal does (`stop`). If it has stopped
    /// already, `wait` returns at once. Several threads may wait. A processor that starts again is
    /// another run: `wait` waits for the run that it found.
    ///
    /// Example: a handler ends the program.
    ///
    ///     processor.start();
    ///     const StopReport report = processor.wait();
    ///
    /// Without a timeout or a deadline it waits for as long as the processor runs:
    /// `ClientOptions::operation_timeout` does not count. A wait that ends early changes nothing.
    /// Errors: invalid_state (never started; called by a handler or another callback of this
    /// processor, which the stop waits for; called on a receive thread), timeout, cancelled.
    StopReport wait(const CallOptions& call = {}) const;

    /// Changes those limits of a running processor that are set. Lower limits take effect as
    /// sessions and handlers finish, an idle timeout at once.
    ///
    /// Errors: invalid_option (a limit is out of its range or contradicts an option; names the
    /// member), invalid_state (not started, or stopped).
    void update_limits(const SessionProcessorLimits& limits);

    /// The state of every slot, the health, and the totals. It asks the receive threads and waits
    /// for them, at most a second.
    [[nodiscard]] ProcessorDescription describe() const;

    /// Only the totals, since the last start. Never blocks.
    [[nodiscard]] ProcessorCounters counters() const;

    /// A snapshot of all that the processor measures, since its last start; `Metrics` has the
    /// table. Nothing before the first start.
    ///
    /// Measuring goes on always, without a lock and without memory for each message. It takes
    /// 100 KiB for each receive thread of the client, and a snapshot as much again, and some ten
    /// microseconds of the caller's time. The gauges come from `describe`, which asks the receive
    /// threads: it takes each of them about a microsecond for each slot. If one does not answer
    /// within a second, the gauges are missing. No receive thread waits for the caller.
    [[nodiscard]] Metrics metrics() const;

    /// The options of the constructor. `worker_threads` is the most there may
    /// be if it was zero. With an `executor` it stays zero.
    /// `update_limits` does not change the result.
    [[nodiscard]] const SessionProcessorOptions& options() const;

    // The same for programs that take errors as values. `Result` says what holds for all. Their
    // handlers tell a failure by `MessageContext::fail`. The other `on_...` functions have no such
    // twin: they fail only between `start` and the end of `stop`, which is a defect of the program.

    /// Makes a processor. It does no I/O and starts no thread. Does what the constructor does, and
    /// returns the failure instead of throwing it.
    static Result<SessionProcessor> try_make(const Client& client, std::string entity,
                                             SessionProcessorOptions options = {}) noexcept;
    /// Makes a processor of several entities. It does no I/O and starts no thread. Does what the
    /// constructor does, and returns the failure instead of throwing it.
    static Result<SessionProcessor> try_make(const Client& client,
                                             std::vector<std::string> entities,
                                             SessionProcessorOptions options = {}) noexcept;
    /// Makes a processor of several entities, whose names are in braces. It does no I/O and starts
    /// no thread. Does what the constructor does, and returns the failure instead of throwing it.
    static Result<SessionProcessor> try_make(const Client& client,
                                             std::initializer_list<std::string_view> entities,
                                             SessionProcessorOptions options = {}) noexcept;

    /// Sets the handler of batches. Does what `on_messages` does, and returns the failure instead
    /// of throwing it.
    Result<void> try_on_messages(BatchHandler handler, BatchOptions options = {}) noexcept;

    /// Starts the threads and the accepts. Returns at once. Does what `start` does, and returns the
    /// failure instead of throwing it.
    Result<void> try_start() noexcept;

    /// Pauses the processor until `resume`. Returns at once. Does what `pause` does, and returns
    /// the failure instead of throwing it.
    Result<void> try_pause() noexcept;

    /// Ends a pause. Does what `resume` does, and returns the failure instead of throwing it.
    Result<void> try_resume() noexcept;

    /// Changes those limits of a running processor that are set. Does what `update_limits` does,
    /// and returns the failure instead of throwing it.
    Result<void> try_update_limits(const SessionProcessorLimits& limits) noexcept;

private:
    friend struct detail::client::Access;

    std::unique_ptr<detail::client::ProcessorRuntime> runtime_;
};

} // namespace sessionq::inline v1
