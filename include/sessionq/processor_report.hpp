#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

/// Where an error of a processor came from.
enum class ErrorSource : std::uint8_t {
    accept,          ///< Asking for a session failed; it is asked again, see
                     ///< `ProcessorOptions::error_backoff`.
    session_open,    ///< `on_session_open` threw (handler_failed).
    message_handler, ///< `on_message` threw (handler_failed); the failure policy follows.
    session_close,   ///< `on_session_close` threw (handler_failed).
    settlement,      ///< The broker refused a settlement or did not answer; the session is left.
    lock_renewal,    ///< A renewal failed, or the lease expired.
    link,            ///< The session was lost.
};

[[nodiscard]] std::string_view to_string(ErrorSource source) noexcept;

/// What `on_error` is told. A value; it may be kept.
struct ErrorContext {
    ErrorSource source{ErrorSource::link};
    Failure failure{};
    std::string entity{};
    std::string session_id{}; ///< Empty where no session is concerned.
};

/// What `stop` did; counts are of messages, sessions or handlers as named.
struct StopReport {
    bool complete{false}; ///< Everything ended by the deadline, or nothing had been started.
    bool requested_only{
        false}; ///< Called from one of its own handlers: stopping was asked for and goes on (R18).
    std::uint64_t drained{0};  ///< Handlers that finished while stopping.
    std::uint64_t released{0}; ///< Messages given back that no handler had started.
    std::uint64_t left{0}; ///< Handlers that still ran at the deadline, those of sessions included;
                           ///< their sessions were given up.
    std::uint64_t sessions{0}; ///< Sessions that were held when it began.
};

/// Totals since start. A session or message that comes again counts again.
struct ProcessorCounters {
    std::uint64_t messages_handled{0};   ///< Handlers that returned.
    std::uint64_t messages_failed{0};    ///< Handlers that threw, each try counted.
    std::uint64_t messages_completed{0}; ///< Completions that the broker confirmed.
    std::uint64_t messages_released{0};  ///< Given back unstarted.
    std::uint64_t messages_expired{0};   ///< Past their own deadline.
    std::uint64_t sessions_opened{
        0}; ///< Begun; without those given back before anything of theirs could start.
    std::uint64_t sessions_closed{
        0}; ///< Of those opened. Also called rolls, the leases lost included.
    std::uint64_t leases_lost{0};
    std::uint64_t empty_accepts{0}; ///< R5: a counter, nothing else.
    std::uint64_t accept_failures{0};
    std::uint64_t late_accepts{
        0}; ///< R19: sessions that came after their accept was given up, and were released at once.
    std::uint64_t settlement_failures{0};
    std::uint64_t lock_renewals{0};
    Duration longest_ready_wait{}; ///< Longest time between a message's arrival and its handler's
                                   ///< start with nothing of its session ahead of it.
};

/// One slot: what it does and what it waits for (R16).
struct SlotDescription {
    std::string entity{};
    std::string session_id{}; ///< Empty while it holds none.
    std::string state{};      ///< One of vacant, accepting, backing_off, opening, open, rewinding,
                              ///< leaving, closing, stopped.
    std::string waits_for{};  ///< The pending I/O, timer or handler, in words.
    Duration since{}; ///< Since it last made progress: changed state, received its first message,
                      ///< or finished a handler.
    std::uint32_t in_flight{0}; ///< Messages received and not yet finished.
    std::uint32_t running{0};   ///< Handlers.
};

/// What a processor is doing.
struct ProcessorDescription {
    enum class State : std::uint8_t { created, running, stopping, stopped };
    State state{State::created};         ///< Of the processor as a whole.
    std::vector<std::string> degraded{}; ///< Empty: healthy. Else why not, one reason each.
    std::size_t buffered_bytes{0};       ///< What counts against `max_buffered_bytes`.
    ProcessorCounters counters{};
    std::vector<SlotDescription> slots{};

    /// Several lines for people; no secret, no message body.
    [[nodiscard]] std::string to_string() const;
};

} // namespace sessionq
