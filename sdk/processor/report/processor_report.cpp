// SPDX-License-Identifier: MIT
#include <sessionq/processor_report.hpp>

#include <sessionq/session_context.hpp>

#include "core/enum_names.hpp"
#include "core/peer_words.hpp"

namespace sessionq::inline v1 {

std::string_view to_string(CloseReason reason) noexcept {
    static constexpr std::string_view names[] = {
        "idle",          "released",        "stopped",     "max_hold",      "max_messages",
        "limit_lowered", "paused",          "parked",      "dead_lettered", "open_failed",
        "lock_lost",     "connection_lost", "unresponsive"};
    return core::name_of<CloseReason::unresponsive>(reason, names);
}

std::string_view to_string(ErrorSource source) noexcept {
    static constexpr std::string_view names[] = {
        "accept",       "session_open", "message_handler", "session_close",  "settlement",
        "lock_renewal", "link",         "failure_policy",  "session_record", "executor"};
    return core::name_of<ErrorSource::executor>(source, names);
}

std::string_view to_string(MessageFate fate) noexcept {
    static constexpr std::string_view names[] = {"none",          "tried_again", "abandoned",
                                                 "comes_again",   "parked",      "retried_later",
                                                 "dead_lettered", "settled",     "removed"};
    return core::name_of<MessageFate::removed>(fate, names);
}

bool is_handled_again(MessageFate fate) noexcept {
    return fate >= MessageFate::tried_again && fate <= MessageFate::retried_later;
}

namespace {

std::string_view words_of(ErrorSource source) noexcept {
    static constexpr std::string_view words[] = {"no session was accepted",
                                                 "on_session_open threw",
                                                 "the handler failed",
                                                 "on_session_close threw",
                                                 "a settlement failed",
                                                 "the lock was not kept",
                                                 "the session was lost",
                                                 "on_failure failed",
                                                 "the delay of retry_later was not read or kept",
                                                 "the executor failed"};
    return core::name_of<ErrorSource::executor>(source, words);
}

std::string_view words_of(MessageFate fate) noexcept {
    static constexpr std::string_view words[] = {
        "",
        "; it is handled again here",
        "; it goes back and comes again",
        "; it comes again",
        "; its session is parked",
        "; it comes again after the delay of retry_later",
        "; it is dead-lettered",
        "; it stays settled as its handler decided",
        "; it is gone, because the broker removed it at its delivery"};
    return core::name_of<MessageFate::removed>(fate, words);
}

} // namespace

std::string ErrorContext::to_string() const {
    std::string text;
    const auto add = [&text](const std::string& place) {
        text += (text.empty() ? "" : ", ") + place;
    };
    if (!entity.empty()) {
        add("'" + entity + "'");
    }
    if (!session_id.empty()) {
        add("session '" + core::peer_words(session_id) + "'");
    }
    if (sequence_number != 0 || !message_id.empty()) {
        const std::string id = message_id.empty() ? "" : "'" + core::peer_words(message_id) + "' ";
        add("message " + id + "(sequence " + std::to_string(sequence_number) +
            (attempt == 0 ? ")" : ", attempt " + std::to_string(attempt) + ")"));
    }
    text += text.empty() ? "" : ": ";
    text.append(words_of(source));
    // The words of the source say already that a handler failed.
    const std::string why =
        failure.code == Errc::handler_failed ? failure.detail : failure.to_string();
    text.append(why.empty() ? "" : ": ").append(why);
    return text.append(words_of(fate));
}

std::string_view to_string(ProcessorState state) noexcept {
    static constexpr std::string_view names[] = {"created", "running", "paused", "stopping",
                                                 "stopped"};
    return core::name_of<ProcessorState::stopped>(state, names);
}

} // namespace sessionq::inline v1
