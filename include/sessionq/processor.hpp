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

/// How a `Processor` works. An aggregate for designated initialisers. It is checked before anything
/// starts: a value out of range throws `Error{Errc::invalid_option}` naming the member. Nothing is
/// clamped.
struct ProcessorOptions {
    /// Consume this sub-queue of the entity. Default none: the entity itself.
    SubQueue sub_queue{SubQueue::none};

    /// Handlers at once, including coroutines that wait. Range: 1 to 10,000. Default 8.
    std::uint32_t max_concurrent_calls{8};

    /// Most messages that are fetched and not yet finished. They are locked, and no other consumer
    /// gets them. Up to 1,000 more may wait for a retry or for `FailurePolicy::abandon_delay`.
    /// Range: 0 to 10,000. Zero: automatic, from the number of handlers and the rate. Default 0.
    std::uint32_t prefetch{0};

    /// As `SessionProcessorOptions::max_buffered_bytes`. Default 64 MiB.
    std::size_t max_buffered_bytes{std::size_t{64} << 20U};

    /// As `SessionProcessorOptions::worker_threads`. Default 0.
    std::uint32_t worker_threads{0};

    /// As `SessionProcessorOptions::executor`. Default null.
    std::shared_ptr<HandlerExecutor> executor{};

    /// How long the lock of a message is renewed after it came. Then the stop token of its handler
    /// fires, the lock ends and the message returns to the broker, so that a handler that hangs
    /// does not keep it. Range: zero or more. Zero: no limit. Default 5 min.
    Duration max_lock_renewal{std::chrono::minutes{5}};

    /// As `SessionProcessorOptions::receive_and_delete`. Default false.
    bool receive_and_delete{false};

    /// As `SessionProcessorOptions::auto_complete`. Default true.
    bool auto_complete{true};

    /// The policy for a message whose handler threw, unless `Processor::on_failure` chooses one:
    /// abandon or dead_letter, after attempts in place if wanted. The others need a session and are
    /// invalid_option. A message that failed waits alone for `retry_delay` or `abandon_delay`: its
    /// lock is renewed, and other messages are handled meanwhile. `max_lock_renewal` may end a
    /// longer delay. Default: abandon.
    FailurePolicy failure_policy{};

    /// As `SessionProcessorOptions::expired_message`. Default: dead_letter.
    ExpiredMessageAction expired_message{ExpiredMessageAction::dead_letter};

    /// Delays before the entity is opened again after it could not be, or after its link was lost.
    /// Default 100 ms to 30 s.
    BackoffOptions error_backoff{};

    /// If the broker has priorities, processors with a higher one are served first. Default 0.
    int priority{0};

    /// When the processor counts as not healthy. `ProcessorDescription::health` tells it.
    HealthBounds health{};

    /// As `SessionProcessorOptions::describe_socket`. Default empty.
    std::string describe_socket{};
};

/// Limits for `Processor::update_limits`. Each that is unset stays as it is. Meaning and ranges are
/// those of the members of `ProcessorOptions` with the same names.
///
/// Example:
///
///     Processor jobs{client, "jobs"};
///     jobs.on_message([](MessageContext&) {});
///     jobs.start();
///     jobs.update_limits({.max_concurrent_calls = 16});
struct ProcessorLimits {
    std::optional<std::uint32_t> max_concurrent_calls{};
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
/// Lifetimes: as those of a `SessionProcessor`.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for the `on_...` functions. They must not run beside one another or
/// beside `start`.
class Processor {
public:
    /// Checks the options, and that the broker supports them. It does no I/O and starts no thread.
    /// Errors: invalid_option (names the member), invalid_argument (`entity` must have 1 to 260
    /// characters), not_supported.
    Processor(const Client& client, std::string entity, ProcessorOptions options = {});

    ~Processor();
    Processor(Processor&&) noexcept;
    Processor& operator=(Processor&&) noexcept;

    /// Sets the handler of messages. Required before `start`. This and the other `on_...` functions
    /// may be called before `start` and after `stop`, and take effect at the next start.
    /// Errors of all: invalid_state (the processor was started and has not stopped).
    void on_message(MessageHandler handler);

    /// As `SessionProcessor::on_failure`. The policy that it returns must abandon or dead-letter,
    /// as `ProcessorOptions::failure_policy`.
    void on_failure(Callback<FailurePolicy(const FailureContext&)> choose);

    /// As `SessionProcessor::on_error`. An entity that has sessions is told here, as
    /// session_required.
    void on_error(Callback<void(const ErrorContext&)> handler);

    /// As `SessionProcessor::on_health_changed`.
    void on_health_changed(Callback<void(const Health&)> handler);

    /// Starts the threads and opens the entity. Returns at once. After `stop` it may start again,
    /// as `SessionProcessor::start` says.
    /// Errors: invalid_state (no `on_message`, started and not stopped, or handlers of the earlier
    /// start still run), resource_exhausted (no thread could be started), invalid_option
    /// (`describe_socket` cannot be opened; says why).
    void start();

    /// As `SessionProcessor::pause`, but the processor leaves its link instead of sessions: fetched
    /// messages that no handler started return uncounted, running handlers finish, and the link is
    /// closed.
    /// Errors: invalid_state (not started, or stopped).
    void pause();

    /// Ends a pause: the entity is opened anew at once, or when the old link is closed.
    /// Errors: invalid_state (not started, or stopped).
    void resume();

    /// Stops as `SessionProcessor::stop` does: messages that no handler started return uncounted,
    /// and running handlers finish. Never throws.
    StopReport stop(const StopOptions& options = {}) noexcept;
    /// Stops within `timeout`, as `stop({.timeout = timeout})` does.
    template <typename Rep, typename Period>
    StopReport stop(std::chrono::duration<Rep, Period> timeout) noexcept {
        return stop(StopOptions{.timeout = timeout});
    }

    /// As `SessionProcessor::state`.
    [[nodiscard]] ProcessorState state() const;

    /// As `SessionProcessor::wait`.
    /// Errors: invalid_state (never started; called by a handler or another callback of this
    /// processor; called on a receive thread), timeout, cancelled.
    StopReport wait(const CallOptions& call = {}) const;

    /// Changes those limits of a running processor that are set. A lower number of handlers takes
    /// effect as handlers finish. A lower prefetch takes effect as messages finish: messages that
    /// the broker was asked for before may still come.
    /// Errors: invalid_option (names the member; the rules are those of the constructor),
    /// invalid_state (not started, or stopped).
    void update_limits(const ProcessorLimits& limits);

    /// As `SessionProcessor::describe`. There is one slot.
    [[nodiscard]] ProcessorDescription describe() const;

    /// Only the totals, since the last start. Never blocks.
    [[nodiscard]] ProcessorCounters counters() const;

    /// As `SessionProcessor::metrics`.
    [[nodiscard]] Metrics metrics() const;

    // The same for programs that take errors as values. `Result` says what holds for all. Their
    // handlers tell a failure by `MessageContext::fail`. The `on_...` functions have no such
    // twin: they fail only between `start` and the end of `stop`, which is a defect of the program.

    /// Makes a processor. It does no I/O and starts no thread. As the constructor, but returns the
    /// failure.
    static Result<Processor> try_make(const Client& client, std::string entity,
                                      ProcessorOptions options = {}) noexcept;

    /// Starts the threads and opens the entity. Returns at once. As `start`, but returns the
    /// failure.
    Result<void> try_start() noexcept;

    /// Pauses the processor until `resume`. Returns at once. As `pause`, but returns the failure.
    Result<void> try_pause() noexcept;

    /// Ends a pause. As `resume`, but returns the failure.
    Result<void> try_resume() noexcept;

    /// Changes those limits of a running processor that are set. As `update_limits`, but returns
    /// the failure.
    Result<void> try_update_limits(const ProcessorLimits& limits) noexcept;

private:
    friend struct detail::client::Access;

    std::unique_ptr<detail::client::ProcessorRuntime> runtime_;
};

} // namespace sessionq::inline v1
