#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sessionq/backoff_options.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

/// What becomes of a message whose handler threw, as a value (R9). Use the functions to make one. A
/// handler that settled its message before it threw has decided: that stands, and the policy is not
/// asked.
struct FailurePolicy {
    enum class Action : std::uint8_t {
        abandon,     ///< Back to the broker, counted; what was prefetched behind it goes back first
                     ///< (R6), so it is the next to come.
        dead_letter, ///< To the dead-letter sub-queue with the exception's text as description; the
                     ///< session goes on.
        park_session, ///< Nothing of the session runs for `park_for`; then the message is abandoned
                      ///< and the session left.
        dead_letter_session, ///< The message and all behind it in the session are dead-lettered;
                             ///< then the session is left.
    };

    /// What is done once the attempts are used up.
    Action action{Action::abandon};

    /// Tries under one lease before `action`, the first included. 1: no retry in place. Range: 1 to
    /// 1,000. Default 1.
    std::uint32_t max_attempts{1};

    /// Delays between tries in place. The session keeps its lease and its order, and no worker
    /// waits. Default 100 ms to 30 s.
    BackoffOptions retry_delay{};

    /// Only with `park_session`: how long nothing of the session runs. The session keeps its slot
    /// meanwhile. Range: zero or more. Default 30 s.
    Duration park_for{std::chrono::seconds{30}};

    [[nodiscard]] static FailurePolicy abandon() { return {}; }
    [[nodiscard]] static FailurePolicy dead_letter() { return {.action = Action::dead_letter}; }
    [[nodiscard]] static FailurePolicy park_session(Duration length) {
        return {.action = Action::park_session, .park_for = length};
    }
    [[nodiscard]] static FailurePolicy dead_letter_session() {
        return {.action = Action::dead_letter_session};
    }

    /// This policy, after `attempts` tries in all (the first included) with `delay` between them.
    [[nodiscard]] FailurePolicy after_retries(std::uint32_t attempts,
                                              BackoffOptions delay = {}) const {
        FailurePolicy copy{*this};
        copy.max_attempts = attempts;
        copy.retry_delay = delay;
        return copy;
    }
};

/// What becomes of a message whose own deadline has passed before its handler started (R22).
enum class ExpiredMessageAction : std::uint8_t {
    dead_letter, ///< To the dead-letter sub-queue, reason "DeadlinePassed".
    discard,     ///< Completed without a handler.
    handle,      ///< Handled all the same, under a deadline that has passed.
};

/// How many at once, for `SessionProcessor::update_limits`. Meaning, ranges and defaults are those
/// of the members of `ProcessorOptions` with the same names.
struct ConcurrencyLimits {
    std::uint32_t max_concurrent_sessions{8};
    std::uint32_t max_concurrent_calls_per_session{1};
    std::uint32_t max_concurrent_calls{0};
};

/// How a `SessionProcessor` works. An aggregate for designated initialisers; checked as a whole
/// before anything starts: a value out of range throws `Error{Errc::invalid_option}` naming the
/// member, nothing is clamped.
struct ProcessorOptions {
    /// Sessions held at once. Each waits for a session when it has none. Range: 1 to 100,000.
    /// Default 8.
    std::uint32_t max_concurrent_sessions{8};

    /// Handlers of one session at once. 1: strictly in order, message n+1 does not start before n
    /// is settled (R6). More: started in order. Range: 1 to 10,000. Default 1.
    std::uint32_t max_concurrent_calls_per_session{1};

    /// Handlers of the whole processor at once, those of coroutines that wait included. Zero: no
    /// cap but sessions x calls. Range: 0 to 1,000,000,000. Default 0.
    std::uint32_t max_concurrent_calls{0};

    /// How long a session may be idle - nothing buffered, running or being settled (R1) - before
    /// its slot rolls to the next one. Zero: as soon as the broker shows that it is empty (R4).
    /// Duration::max(): never. Range: zero or more. Default 1 s.
    Duration session_idle_timeout{std::chrono::seconds{1}};

    /// Longest time a session may keep its slot, counted from the accept; then it is left once its
    /// running handlers have finished. Zero: no bound (R14). Range: zero or more. Default 0.
    Duration max_hold{};

    /// Most messages of a session handled in one turn of its slot. Zero: no bound (R14). Default 0.
    std::uint32_t max_messages_per_turn{0};

    /// Most messages of a session on this side, fetched and not yet finished. Zero: 32, or twice
    /// the calls per session if that is more. Range: 0 to 10,000. Default 0.
    std::uint32_t prefetch{0};

    /// Bytes of messages buffered by the processor (R23). Each held session may always have one
    /// message; whatever is fetched ahead beyond that stays within. Range: 64 KiB or more. Default
    /// 64 MiB.
    std::size_t max_buffered_bytes{std::size_t{64} << 20U};

    /// Handler threads. Zero: one per core. Range: up to 1,024. Default 0.
    std::uint32_t worker_threads{0};

    /// How long one accept may wait at the broker for a session. Range: 1 ms to 1 h. Default 60 s.
    Duration accept_wait{std::chrono::seconds{60}};

    /// The lease is renewed as long as the session is held, but no longer than this while none of
    /// its handlers finishes; then the stop token fires before the lock dies (R13).
    /// `SessionReceiverOptions` has the same. Zero: no bound. Range: zero or more. Default 0.
    Duration max_lock_renewal{};

    /// True: with one call per session, the next handler starts only after the broker confirmed the
    /// settlement of the one before, a round trip per message. False: after the settlement was
    /// handed over for sending in order; a lost lease then may repeat a few handled messages. Only
    /// with one call per session, and not with `receive_and_delete`. Default false.
    bool confirm_settlements{false};

    /// True: messages are removed when delivered; what no handler finished is lost with the
    /// process, and what is on its way when a session is given back or its lease or connection is
    /// lost. There is no settling, so the failure policy can only retry in place. Default false.
    bool receive_and_delete{false};

    /// What becomes of a message whose handler threw. Default: abandon.
    FailurePolicy failure_policy{};

    /// What becomes of a message past its own deadline. Default: dead-letter.
    ExpiredMessageAction expired_message{ExpiredMessageAction::dead_letter};

    /// Only these sessions, by id: each up to 128 characters, none twice. Empty: whichever have
    /// messages. With no more ids than slots the sessions are kept while idle. Default empty.
    std::vector<std::string> session_ids{};

    /// Delays before a slot accepts again after its accept failed or its session was lost. Where no
    /// connection can be made (connection_refused), `ClientOptions::reconnect_backoff` spaces the
    /// attempts, and not this on top of it. Default 100 ms to 30 s.
    BackoffOptions error_backoff{};

    /// Higher is served first where processors of one broker compete for sessions, if the broker
    /// has priorities. Default 0.
    int priority{0};
};

} // namespace sessionq
