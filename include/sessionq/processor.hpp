// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sessionq/backoff_options.hpp>
#include <sessionq/call_options.hpp>
#include <sessionq/callback.hpp>
#include <sessionq/client.hpp>
#include <sessionq/handler_executor.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/metrics.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/result.hpp>
#include <sessionq/sub_queue.hpp>

namespace sessionq::detail::client {
struct Access;
class ProcessorRuntime;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// How a `Processor` works. An aggregate for designated initialisers. The constructor checks it: a
/// value out of range, or one that contradicts another, throws `Error{Errc::invalid_option}` naming
/// the member. Nothing is clamped.
struct ProcessorOptions {
    /// The sub-queue of the entity to consume. A broker without such a sub-queue: not_supported.
    /// Default none: the entity itself.
    SubQueue sub_queue{SubQueue::none};

    /// Handlers at once, including coroutines that wait. `update_limits` changes it. Range: 1 to
    /// 10,000. Default 8.
    std::uint32_t max_concurrent_calls{8};

    /// Most messages that are fetched and not yet finished. They are locked, and no other consumer
    /// gets them. Up to 1,000 more may wait for a retry or for `FailurePolicy::abandon_delay`.
    /// `update_limits` changes it. Range: 0 to 10,000. Zero: the processor chooses. It begins with
    /// 32, or twice the handlers if that is more. It doubles that when handlers waited although the
    /// broker had messages, up to 10,000 and a quarter of `max_buffered_bytes`. It halves it when
    /// half was never used. `SlotDescription::window` tells it. Default 0.
    std::uint32_t prefetch{0};

    /// Bytes of messages that the processor may buffer. It may always have one message, of any
    /// size. Everything fetched beyond that stays within the limit: the broker is told, by the
    /// window of the AMQP session, to send no more than fits. A window counts frames of up to 16
    /// KiB, so at most a message for each 16 KiB of the limit is on its way. A local broker in this
    /// process has no windows: there the limit holds as far as the next messages are as large as
    /// the last ones. The data that `content` and `properties` of a `ReceivedMessage` decode does
    /// not count.
    /// The limit is divided equally among the receive threads of the client, and a `Processor` uses
    /// one of them. So with `ClientOptions::receive_threads` 4 it buffers a quarter. Processors on
    /// one thread share the sum of their parts. Range: 64 KiB or more. Default 64 MiB.
    std::size_t max_buffered_bytes{std::size_t{64} << 20U};

    /// Threads that run handlers. A handler that waits keeps its thread, a coroutine does not.
    /// Range: 0 to 1,024. Zero: as many as `max_concurrent_calls`, up to 64. The processor begins
    /// with one per core, adds more while messages wait and the process leaves the processors time,
    /// and ends those that were idle for 10 s. With `executor` it must be zero. Default 0.
    std::uint32_t worker_threads{0};

    /// Runs the handlers on threads of the application, and all callbacks that would run on the
    /// processor's workers. `HandlerExecutor` says what it must do. At most `max_concurrent_calls`
    /// handlers run at once, and no more than the executor's threads allow. It requires that
    /// `worker_threads` is zero. Null: the processor has workers of its own. Default null.
    std::shared_ptr<HandlerExecutor> executor{};

    /// How long the lock of a message is renewed after it came. Then the stop token of its handler
    /// fires, the lock ends and the message returns to the broker, so that a handler that hangs
    /// does not keep it. Range: zero or more. Zero: no limit. Default 5 min.
    Duration max_lock_renewal{std::chrono::minutes{5}};

    /// True: the broker removes messages when it delivers them. Messages that no handler finished
    /// are lost with the process. Messages in transit are lost when the link is closed or lost.
    /// Nothing is settled, so `auto_complete` must be true, and the failure policy must abandon: it
    /// can only retry in place. False: a message stays locked until it is settled. Default false.
    bool receive_and_delete{false};

    /// True: a handler that returns completes its message. False: a handler must settle its message
    /// itself (`MessageContext::complete`, `abandon`, `release`, `dead_letter`, `defer`). One that
    /// returns without that has failed as if it had thrown `Error{Errc::invalid_state}`, and the
    /// failure policy follows, so that nothing is lost. False requires that `receive_and_delete` is
    /// off. Default true.
    bool auto_complete{true};

    /// The policy for a message whose handler threw or called `MessageContext::fail`, unless
    /// `Processor::on_failure` chooses one. Its action must be abandon or dead_letter, after
    /// attempts in place if wanted. The other actions need a session and are invalid_option. With
    /// `receive_and_delete` only abandon is allowed. A broker that cannot dead-letter:
    /// not_supported. A message that failed waits alone for `retry_delay` or `abandon_delay`: its
    /// lock is renewed, and other messages are handled meanwhile. `max_lock_renewal` may end a
    /// longer delay. Default: abandon, after 100 ms to 30 s.
    FailurePolicy failure_policy{};

    /// The action for a message whose own deadline has passed before its handler started:
    /// dead-letter it, discard it, or handle it all the same. Default: dead_letter.
    ExpiredMessageAction expired_message{ExpiredMessageAction::dead_letter};

    /// Delays before the entity is opened again after it could not be, or after its link was lost.
    /// They grow with each failure in a row. If no connection can be made (connection_refused),
    /// `ClientOptions::reconnect_backoff` applies instead. Range: `min` over zero, `max` at least
    /// `min`. Default 100 ms to 30 s.
    BackoffOptions error_backoff{};

    /// Processors with a higher priority are served first, if the broker has priorities. Other
    /// brokers ignore it. Range: any `int`. Default 0.
    int priority{0};

    /// How long a fault may last before the processor counts as not healthy.
    /// `ProcessorDescription::health` and `Processor::on_health_changed` tell it. Range of each
    /// bound: 1 s or more. Duration::max(): never. Default 5 s to 1 min, by cause (`HealthBounds`).
    HealthBounds health{};

    /// The path of a local socket that tells the processor's state to each client that connects:
    /// `sessionq top` shows it. The first `start` opens it, and the destructor of the processor
    /// removes it. Only the user of this process may connect (mode 0600), and root. A socket that a
    /// process left behind is replaced. Each connection gets one line of JSON, with
    /// `ProcessorDescription::to_json` as `processor` and `to_json(Metrics)` as `metrics`, and its
    /// end. It takes a thread of its own. Range: a path of up to 107 bytes. Empty: no socket.
    /// Default empty.
    std::string describe_socket{};
};

/// Limits for `Processor::update_limits`. Each that is unset stays as it is.
///
/// Example:
///
///     Processor jobs{client, "jobs"};
///     jobs.on_message([](MessageContext&) {});
///     jobs.start();
///     jobs.update_limits({.max_concurrent_calls = 16});
struct ProcessorLimits {
    /// Handlers at once, including coroutines that wait. A lower number takes effect as handlers
    /// finish. Range: 1 to 10,000. Unset: no change. Default unset.
    std::optional<std::uint32_t> max_concurrent_calls{};
    /// Most messages that are fetched and not yet finished. A lower number takes effect as messages
    /// finish: messages that the broker was asked for before may still come. Range: 0 to 10,000.
    /// Zero: the processor chooses, and begins anew. Unset: no change. Default unset.
    std::optional<std::uint32_t> prefetch{};
};

/// Consumes an entity without sessions, or the dead-letter sub-queue of any entity: handles several
/// messages at once, in no order. `SessionProcessor` is the one for entities with sessions.
///
/// Example:
///
///     Processor dead{client, "orders",
///                    {.sub_queue = SubQueue::dead_letter, .max_concurrent_calls = 16}};
///     dead.on_message([](MessageContext& context) {
///         std::cout << context.message().text() << '\n';
///     });
///     dead.start();
///     wait_for_signal();
///     const StopReport report = dead.stop(std::chrono::seconds{10});
///
/// Handlers run on the processor's worker threads, or on `ProcessorOptions::executor`, and nowhere
/// else. Each runs under an `OperationContext` with the message's own deadline. The end of the lock
/// is no deadline, because the receive thread renews the lock. A handler that returns completes its
/// message, unless `auto_complete` is off. A handler that throws leaves it to the failure policy.
///
/// `MessageContext::session` is a session without an id or a state; its `release` gives the link
/// back and opens it anew, and its `receive_deferred` receives those of the entity. A lost link is
/// made again. `on_error` tells of it, and of each lock that was lost.
///
/// Lifetimes: the processor keeps its client alive. Its destructor stops it as `stop(5s)` does and
/// never hangs. A handler that does not return keeps everything it uses until it does. Objects that
/// handlers refer to must outlive them.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for the `on_...` functions. They must not run beside one another or
/// beside `start`.
class Processor {
public:
    /// Checks the options, and that the broker supports them. It does no I/O and starts no thread.
    /// Errors: invalid_option (names the member), invalid_argument (`entity` must have 1 to 260
    /// characters), not_supported (the broker lacks the sub-queue, or a feature that the options
    /// need).
    Processor(const Client& client, std::string entity, ProcessorOptions options = {});

    ~Processor();
    Processor(Processor&&) noexcept;
    Processor& operator=(Processor&&) noexcept;

    /// Sets the handler of messages. Required before `start`. A later call replaces the handler. It
    /// may be called before `start` and after `stop`, and takes effect at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_message(MessageHandler handler);

    /// Sets the function that chooses a policy for a failure: by the exception, the attempt or the
    /// delivery count. It runs after a message handler failed, unless the handler had settled the
    /// message: on the worker, or on the thread that used or destroyed the handler's `Completion`.
    /// The policy that it returns must abandon or dead-letter; with `receive_and_delete` it must
    /// abandon. If the function throws or returns an invalid policy, `on_error` is called and
    /// `ProcessorOptions::failure_policy` applies. Without a function that policy applies always.
    /// It may be called before `start` and after `stop`, and takes effect at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_failure(Callback<FailurePolicy(const FailureContext&)> choose);

    /// Sets the handler of errors: failures outside of handlers, and exceptions of handlers. An
    /// entity that has sessions is told here, as session_required. Several workers may run the
    /// handler at once. Errors of `ErrorSource::executor` come on the processor's notifier thread
    /// instead. The handler's own exceptions are logged. The errors that it gets are in the log at
    /// level `debug` only. Without a handler an error is a warning there, or `info` if the message
    /// is tried again in place. It may be called before `start` and after `stop`, and takes effect
    /// at the next start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_error(Callback<void(const ErrorContext&)> handler);

    /// Sets the function that is told of another `Health`: another state, or other causes. It runs
    /// on the processor's notifier thread, one call at a time, at most a second after the cause
    /// came or went, beside the bounds of `ProcessorOptions::health`. It should return soon,
    /// because stop tokens are fired there too. Its exceptions are logged. Each change is also
    /// logged. It may be called before `start` and after `stop`, and takes effect at the next
    /// start.
    /// Errors: invalid_state (the processor was started and has not stopped).
    void on_health_changed(Callback<void(const Health&)> handler);

    /// Starts the threads and opens the entity. Returns at once: `on_error` tells if the entity
    /// cannot be opened, and the processor tries again.
    ///
    /// After `stop` it may start again, with the options of the constructor and the handlers that
    /// are set. It must have stopped, and all handlers of the earlier start must have returned: a
    /// stop that timed out, or that a handler requested, is not waited for. `describe` and
    /// `counters` tell of the last start.
    /// Errors: invalid_state (no `on_message`, started and not stopped, or handlers of the earlier
    /// start still run), resource_exhausted (no thread could be started), invalid_option
    /// (`describe_socket` cannot be opened; says why).
    void start();

    /// Pauses the processor until `resume`. Returns at once. No message is fetched any more, and
    /// the processor leaves its link: fetched messages that no handler started return uncounted,
    /// running handlers finish, the broker confirms their settlements, and the link is closed. Stop
    /// tokens do not fire.
    ///
    /// The receive thread begins with that as soon as it has seen the request. From then on no
    /// handler starts, except those that a worker has already taken. With `receive_and_delete`
    /// messages cannot return: those that have come are handled first.
    ///
    /// `describe` tells when the pause is complete: the slot is `paused`, and `settling` is empty.
    /// No effect while it is paused. A handler of this processor may call it. `update_limits` and
    /// `stop` work meanwhile; new limits count from `resume`.
    /// Errors: invalid_state (not started, or stopped).
    void pause();

    /// Ends a pause: the entity is opened anew at once, or when the old link is closed. No effect
    /// unless paused. A handler of this processor may call it.
    /// Errors: invalid_state (not started, or stopped).
    void resume();

    /// Stops in phases: no message is fetched any more, messages that no handler started return
    /// uncounted, running handlers finish, and the link is closed. Returns when that is done, at
    /// the latest after `StopOptions::timeout` (30 s by default). At `StopOptions::cancel_after`
    /// the stop tokens of running handlers fire. At the timeout the processor gives up the messages
    /// whose handlers still run. The report counts the handlers that ran when the tokens fired, and
    /// those that are left.
    ///
    /// A handler of this processor may call it, also `on_health_changed`, and so may a callback of
    /// its stop tokens. It then only requests the stop and returns at once. Before the first start
    /// it returns at once. Never throws. A second call returns the same report. While the processor
    /// stops, the earlier deadline applies to both calls.
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
    /// Without a timeout or a deadline it waits for as long as the processor runs:
    /// `ClientOptions::operation_timeout` does not count. A wait that ends early changes nothing.
    /// Errors: invalid_state (never started; called by a handler or another callback of this
    /// processor, which the stop waits for; called on a receive thread), timeout, cancelled.
    StopReport wait(const CallOptions& call = {}) const;

    /// Changes those limits of a running processor that are set. A lower number of handlers takes
    /// effect as handlers finish. A lower prefetch takes effect as messages finish: messages that
    /// the broker was asked for before may still come.
    /// Errors: invalid_option (a limit is out of its range; names the member), invalid_state (not
    /// started, or stopped).
    void update_limits(const ProcessorLimits& limits);

    /// The state of the processor's one slot, the health, and the totals. It asks the receive
    /// threads and waits for them, at most a second. If one does not answer, the slot is missing
    /// and the health says so.
    [[nodiscard]] ProcessorDescription describe() const;

    /// Only the totals, since the last start. All are zero before the first start. Never blocks.
    [[nodiscard]] ProcessorCounters counters() const;

    /// A snapshot of all that the processor measures, since its last start; `Metrics` has the
    /// table. Nothing before the first start.
    ///
    /// Measuring goes on always, without a lock and without memory for each message. It takes 100
    /// KiB for each receive thread of the client, and a snapshot as much again, and some ten
    /// microseconds of the caller's time. The gauges come from `describe`, which asks the receive
    /// threads. If one does not answer within a second, the gauges are missing. No receive thread
    /// waits for the caller.
    [[nodiscard]] Metrics metrics() const;

    // The same for programs that take errors as values. `Result` says what holds for all. Their
    // handlers tell a failure by `MessageContext::fail`. The `on_...` functions have no such
    // twin: they fail only between `start` and the end of `stop`, which is a defect of the program.

    /// Makes a processor. It does no I/O and starts no thread. Does what the constructor does, and
    /// returns the failure instead of throwing it.
    static Result<Processor> try_make(const Client& client, std::string entity,
                                      ProcessorOptions options = {}) noexcept;

    /// Starts the threads and opens the entity. Returns at once. Does what `start` does, and
    /// returns the failure instead of throwing it.
    Result<void> try_start() noexcept;

    /// Pauses the processor until `resume`. Returns at once. Does what `pause` does, and returns
    /// the failure instead of throwing it.
    Result<void> try_pause() noexcept;

    /// Ends a pause. Does what `resume` does, and returns the failure instead of throwing it.
    Result<void> try_resume() noexcept;

    /// Changes those limits of a running processor that are set. Does what `update_limits` does,
    /// and returns the failure instead of throwing it.
    Result<void> try_update_limits(const ProcessorLimits& limits) noexcept;

private:
    friend struct detail::client::Access;

    std::unique_ptr<detail::client::ProcessorRuntime> runtime_;
};

} // namespace sessionq::inline v1
