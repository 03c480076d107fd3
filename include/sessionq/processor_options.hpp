// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/backoff_options.hpp>
#include <sessionq/crash_guard.hpp>
#include <sessionq/failure_policy.hpp>
#include <sessionq/handler_executor.hpp>
#include <sessionq/health.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// How a processor treats a message whose own deadline has passed before its handler started.
///
/// Example:
///
///     SessionProcessor lenient{
///         client, "orders", {.expired_message = ExpiredMessageAction::handle}};
enum class ExpiredMessageAction : std::uint8_t {
    dead_letter, ///< The message goes to the dead-letter queue, reason "DeadlinePassed".
    discard,     ///< The message is completed without a handler.
    handle,      ///< The handler runs, under a deadline that has passed.
};

/// For example "dead_letter".
[[nodiscard]] std::string_view to_string(ExpiredMessageAction action) noexcept;

/// Writes `to_string(action)`.
std::ostream& operator<<(std::ostream& out, ExpiredMessageAction action);

/// How `stop` of a `SessionProcessor` or a `Processor` works.
struct StopOptions {
    /// The longest time that `stop` takes. Range: any. Zero or negative: it does not wait.
    /// Duration::max(): without end. Default 30 s.
    Timeout timeout{std::chrono::seconds{30}};

    /// When the stop tokens of running handlers fire, and the operations that coroutines wait for
    /// are cancelled: a share of `timeout`. 0: when stopping begins. 1: at the timeout. Out of
    /// range: the nearest bound. Unset: a tenth of `timeout` before its end, at most a second.
    /// Default unset.
    std::optional<double> cancel_after{};
};

/// Limits for `SessionProcessor::update_limits`. Each that is unset stays as it is.
struct SessionProcessorLimits {
    /// Sessions held at once, without those that are parked. With a lower number, the processor
    /// leaves the sessions that are too many once their running handlers have finished. Range: 1 to
    /// 100,000. Unset: no change. Default unset.
    std::optional<std::uint32_t> max_concurrent_sessions{};
    /// Handlers of one session at once. 1: strict order. More: handlers start in order.
    /// `confirm_settlements` and `crash_guard` need 1. A lower number takes effect as handlers
    /// finish. Range: 1 to 10,000. Unset: no change. Default unset.
    std::optional<std::uint32_t> max_concurrent_calls_per_session{};
    /// Handlers of the whole processor at once, including coroutines that wait. A lower number
    /// takes effect as handlers finish. Range: 0 to 1,000,000,000. Zero: no limit except sessions x
    /// handlers per session. Unset: no change. Default unset.
    std::optional<std::uint32_t> max_concurrent_calls{};
    /// How long a session may be idle before its slot rolls to the next one. It counts from when a
    /// session became idle, also for sessions that are idle now. No effect with `session_ids` that
    /// are no more than the slots: they are kept while idle. Range: zero or more. Zero: roll as
    /// soon as the broker shows that the session is empty. Duration::max(): never. Unset: no
    /// change. Default unset.
    std::optional<Timeout> session_idle_timeout{};
    /// Most messages of a session that are fetched and not yet finished. It counts for sessions
    /// that are held now, and for later ones. A lower number takes effect as messages finish:
    /// messages that the broker was asked for before may still come. Range: 0 to 10,000. Zero: the
    /// processor chooses again, from the beginning. Unset: no change. Default unset.
    std::optional<std::uint32_t> prefetch{};
};

/// How a `SessionProcessor` works. An aggregate for designated initialisers. It is checked before
/// anything starts: a value out of range throws `Error{Errc::invalid_option}` naming the member.
/// Nothing is clamped.
struct SessionProcessorOptions {
    /// Sessions held at once, without those that are parked. A slot without a session waits for
    /// one. A session that waits only for the answers to its last settlements, and is then left,
    /// keeps its lock but no slot. If a delay of it is over (`FailurePolicy::retry_later`), it also
    /// waits so until the broker has noted that. There may be as many of those again. Range: 1 to
    /// 100,000. Default 8.
    std::uint32_t max_concurrent_sessions{8};

    /// Handlers of one session at once. 1: strict order, message n+1 does not start before n is
    /// settled. More: handlers start in order. A message starts only after every earlier unsettled
    /// message of the session has started, and has started again if it failed or returned, also
    /// after a delay or a redelivery. While the session waits (`FailurePolicy`), nothing of it
    /// starts. Two handlers that start at once on two threads may reach their first statement in
    /// either order. Range: 1 to 10,000. Default 1.
    std::uint32_t max_concurrent_calls_per_session{1};

    /// Handlers of the whole processor at once, including coroutines that wait. Range: 0 to
    /// 1,000,000,000. Zero: no limit except sessions x handlers per session. Default 0.
    std::uint32_t max_concurrent_calls{0};

    /// How long a session may be idle before its slot rolls to the next one. Idle means that no
    /// message is buffered, running or being settled. `max_hold` may end it earlier. Range: zero or
    /// more. Zero: roll as soon as the broker shows that the session is empty. Duration::max():
    /// never. Default 1 s.
    Timeout session_idle_timeout{std::chrono::seconds{1}};

    /// Sessions that may be parked at once without a slot. One that is parked beyond them keeps its
    /// slot. Range: 0 to 100,000. Zero: all keep their slots. Default 1,000.
    std::uint32_t max_parked_sessions{1'000};

    /// Longest time a session may keep its slot, from the accept. Then the processor leaves it once
    /// its running handlers have finished. Range: zero or more. Zero: no limit. Unset: 5 s while
    /// all slots hold sessions and others wait for one, else no limit. A broker in this process
    /// tells how many are ready. They get their turns within 5 s: if they are many, each turn is
    /// shorter, down to 50 ms. Other brokers do not tell. There one session is left after 5 s. If
    /// its slot gets another session at once, others wait. If not, the next try comes later, up to
    /// a minute. `ProcessorDescription::session_hold` tells it. No effect on `session_ids` that are
    /// no more than the slots. Default: unset.
    std::optional<Duration> max_hold{};

    /// Most messages of a session that are handled in one turn of its slot. Then the processor
    /// leaves the session, and its slot takes another. Range: any. Zero: no limit. Default 0.
    std::uint32_t max_messages_per_turn{0};

    /// Most messages of a session that are fetched and not yet finished. Range: 0 to 10,000. Zero:
    /// the processor chooses. It begins with 32, or twice the handlers per session if that is more;
    /// with `SessionProcessor::on_messages`, with the batches of all these handlers and 32 messages
    /// more, up to 10,000. It doubles that when handlers waited although the broker had messages:
    /// for 5 ms or more, up to 10,000 and a quarter of the session's share of `max_buffered_bytes`;
    /// for any time, up to 1,024 for all sessions of a receive thread together. It halves it when
    /// half was never used. `SlotDescription::window` tells it. Default 0.
    std::uint32_t prefetch{0};

    /// Bytes of messages that the processor may buffer. Each session may always have one message.
    /// Everything fetched beyond that stays within the limit: the broker is told, by the windows of
    /// its AMQP sessions, to send no more than fits, with messages of any size. Windows count
    /// frames of up to 16 KiB, so at most a message for each 16 KiB of the limit is on its way.
    /// A local broker in this process has no windows: there the limit holds as far as the next
    /// messages are as large as the last ones. The data that `content` and `properties` of a
    /// `ReceivedMessage` decode does not count. From a network it is a second copy of the body,
    /// kept until the settlement is answered. The limit is divided equally among the receive
    /// threads of the client. Processors on one thread share the sum of their parts.
    /// Range: 64 KiB or more. Default 64 MiB.
    std::size_t max_buffered_bytes{std::size_t{64} << 20U};

    /// Threads that run handlers. A handler that waits keeps its thread, a coroutine does not.
    /// Range: 0 to 1,024. Zero: as many as handlers may run at once, up to 64. It begins with one
    /// per core, adds more while messages wait and the process leaves the processors time, and ends
    /// those that were idle for 10 s. `update_limits` changes the number. With `executor` it must
    /// be zero. Default 0.
    std::uint32_t worker_threads{0};

    /// Runs the handlers on threads of the application, and so all callbacks that would run on the
    /// processor's workers. `HandlerExecutor` says what it must do. The limits of handlers hold as
    /// they do without it: at most so many run at once as they and the executor's threads allow.
    /// Requires that `worker_threads` is zero. Null: the processor has workers of its own. Default
    /// null.
    std::shared_ptr<HandlerExecutor> executor{};

    /// How long one accept may wait at the broker for a session. Range: 1 ms to 1 h. Default 60 s.
    Duration accept_wait{std::chrono::seconds{60}};

    /// How long a session's lock is renewed while none of its handlers finishes. Then the stop
    /// token fires before the lock expires. While handlers finish, renewal continues as long as the
    /// session is held. Range: zero or more. Zero: no limit. Default 0.
    Duration max_lock_renewal{};

    /// True: the next handler starts only after the broker confirmed the settlement before it. This
    /// costs a round trip per message. False: it starts after the settlement was queued for sending
    /// in order. If the lock is lost then, a few handled messages may be redelivered. Requires one
    /// handler per session, and not `receive_and_delete`. Default false.
    bool confirm_settlements{false};

    /// True: the broker removes messages when it delivers them. Messages that no handler finished
    /// are lost with the process. Messages in transit are lost when a session is given back, or
    /// when its lock or connection is lost. Nothing is settled, so `auto_complete` must be true,
    /// `confirm_settlements` false, `crash_guard` unset, and the failure policy must abandon: it
    /// can only retry in place. False: a message stays locked until it is settled. Default false.
    bool receive_and_delete{false};

    /// True: a handler that returns completes its message. False: a handler must settle its message
    /// itself (`MessageContext::complete`, `abandon`, `release`, `dead_letter`, `defer`). One that
    /// returns without that has failed as if it had thrown `Error{Errc::invalid_state}`, and the
    /// failure policy follows, so that nothing is lost. False requires that `receive_and_delete` is
    /// off. Default true.
    bool auto_complete{true};

    /// The policy for a message whose handler threw or called `MessageContext::fail`.
    /// `SessionProcessor::on_failure` may choose another policy for a failure. With
    /// `receive_and_delete` its action must be abandon. A policy that the broker cannot carry out
    /// is not_supported. Default: abandon, after 100 ms to 30 s, growing with each delivery.
    FailurePolicy failure_policy{};

    /// The treatment of messages that kill their consumers. Unset: they come again for ever,
    /// because a holder that is lost counts as no delivery. Requires one handler per session, and
    /// not `receive_and_delete`. Default: unset.
    std::optional<CrashGuard> crash_guard{};

    /// The action for a message whose own deadline has passed before its handler started:
    /// dead-letter it, discard it, or handle it all the same. Default: dead_letter.
    ExpiredMessageAction expired_message{ExpiredMessageAction::dead_letter};

    /// The ids of the only sessions to handle. Each is UTF-8 of up to 128 characters, none occurs
    /// twice, also not in another case where the broker ignores that. With no more ids than slots,
    /// the sessions are kept while idle. Empty: any session. Default empty.
    std::vector<std::string> session_ids{};

    /// Delays before an entity is asked again after a failed accept, and before a slot that lost
    /// its session looks for the next one. A session whose `on_session_open` failed is parked for
    /// such a delay, and then left: meanwhile none of its handlers runs, and its lock is renewed.
    /// That delay grows for each session by itself, while the session is opened again and fails;
    /// the processor remembers the 10,000 that failed last. If no connection can be made
    /// (connection_refused), `ClientOptions::reconnect_backoff` applies instead. Range: `min` over
    /// zero, `max` at least `min`. Default 100 ms to 30 s.
    BackoffOptions error_backoff{};

    /// Processors with a higher priority are served first, if the broker has priorities. Other
    /// brokers ignore it. Range: any `int`. Default 0.
    int priority{0};

    /// How long a fault may last before the processor counts as not healthy.
    /// `ProcessorDescription::health` and `SessionProcessor::on_health_changed` tell it. Range of
    /// each bound: 1 s or more. Duration::max(): never. Default 5 s to 1 min, by cause
    /// (`HealthBounds`).
    HealthBounds health{};

    /// The path of a local socket that tells the processor's state to each client that connects:
    /// `sessionq top` shows it. It is opened by the first `start` and removed with the processor.
    /// Only the user of this process may connect (mode 0600), and root. A socket that a process
    /// left behind is replaced. Each connection gets one line of JSON, with
    /// `ProcessorDescription::to_json` as `processor` and `to_json(Metrics)` as `metrics`, and its
    /// end. It takes a thread of its own. Range: a path of up to 107 bytes. Empty: no socket.
    /// Default empty.
    std::string describe_socket{};
};

} // namespace sessionq::inline v1
