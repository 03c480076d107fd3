// SPDX-License-Identifier: MIT
#include <sessionq/health.hpp>

#include <chrono>
#include <iterator>

namespace sessionq::inline v1 {
namespace {

struct CauseText {
    std::string_view name;
    std::string_view advice;
};

constexpr CauseText cause_texts[] = {
    {"not_connected", "Check that the broker runs and that its host and port can be reached from "
                      "here. sessionq goes on trying."},
    {"broker_silent", "The broker or the network hangs. sessionq gives the connection up at "
                      "connection_idle_timeout and makes a new one."},
    {"accept_refused", "Check the name of the entity, that it has sessions, and that the key may "
                       "listen."},
    {"accept_unanswered", "The broker is overloaded or hangs. Look at its load and its log."},
    {"sessions_lost", "Look at on_error for why sessions are lost: the connection, the lock, or "
                      "settlements without an answer."},
    {"workers_busy", "Handlers take all workers. Raise worker_threads or max_concurrent_calls, "
                     "make handlers quicker, or write those that wait as coroutines. With an "
                     "executor, look at its threads and at whether it runs its works."},
    {"handler_slow", "Look at what the handler of this session waits for. Let it watch its stop "
                     "token and its deadline, and bound it with max_lock_renewal."},
    {"handler_misused", "A defect of the application: use the Completion once on every path of a "
                        "handler that finishes later."},
    {"settlement_unanswered", "The broker is overloaded or hangs. After 30 s sessionq gives the "
                              "session up, and its messages come again."},
    {"renewal_late", "The broker answers late. If the lock ends, messages of the session are "
                     "handled again. A longer lock of the entity gives more time."},
    {"sessions_parked", "Look at on_error for why their messages or on_session_open failed. They "
                        "are handled again when the delay is over."},
    {"sessions_waiting",
     "All slots hold sessions. Raise max_concurrent_sessions, lower max_hold, or "
     "start another processor."},
    {"buffer_full", "Handlers are slower than the broker, or messages are large. Raise "
                    "max_buffered_bytes or lower prefetch."},
    {"clocks_differ", "Set the clock of this host, or the broker's, by NTP. Locks are renewed more "
                      "often meanwhile, some may be lost, and tokens may be refused."},
    {"thread_silent", "A receive thread is blocked. Look for a log sink, credential or transport "
                      "of the application that blocks it."},
    {"internal_error", "This is a defect in sessionq. Please report it with what describe() says."},
};
static_assert(std::size(cause_texts) == static_cast<std::size_t>(HealthCause::internal_error) + 1);

const CauseText* text_of(HealthCause cause) noexcept {
    const auto index = static_cast<std::size_t>(cause);
    return index < std::size(cause_texts) ? &cause_texts[index] : nullptr;
}

} // namespace

std::string_view to_string(HealthCause cause) noexcept {
    const CauseText* const text = text_of(cause);
    return text != nullptr ? text->name : "unknown";
}

std::string_view advice(HealthCause cause) noexcept {
    const CauseText* const text = text_of(cause);
    return text != nullptr ? text->advice : "";
}

std::string_view to_string(Health::State state) noexcept {
    switch (state) {
    case Health::State::healthy: return "healthy";
    case Health::State::degraded: return "degraded";
    case Health::State::failed: return "failed";
    }
    return "unknown";
}

std::string HealthReason::to_string() const {
    std::string line{sessionq::to_string(cause)};
    if (!entity.empty()) {
        line += " at '" + entity + "'";
    }
    line += ": " + detail;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
    line += " (for " + std::to_string(seconds) + " s";
    return line + (count > 1 ? "; " + std::to_string(count) + " of them)" : ")");
}

std::string Health::to_string() const {
    std::string text{sessionq::to_string(state)};
    text += '\n';
    for (const HealthReason& reason : reasons) {
        text += reason.to_string() + ". ";
        text += advice(reason.cause);
        text += '\n';
    }
    return text;
}

} // namespace sessionq::inline v1
