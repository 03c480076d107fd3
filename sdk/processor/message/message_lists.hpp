// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "processor/message/message_machine.hpp"
#include "processor/message/retry_queue.hpp"

namespace sessionq::detail::processor {

/// Holds the messages of one session, each in the list of its phase. `SessionMachine` calls `place`
/// after each input of a message, and asks which lists are empty. The class decides nothing.
class MessageLists {
public:
    using Messages = core::IntrusiveList<MessageMachine, MessageMachine>;
    using Phase = MessageMachine::Phase;

    /// Moves the message to the list of its new phase.
    void place(MessageMachine& message) {
        Messages::remove(message);
        switch (message.phase()) {
        case Phase::gathering: gathering_.push_back(message); break;
        case Phase::in_lane:
        case Phase::settled_early: in_lane_.push_back(message); break;
        case Phase::settling_early: settling_early_.push_back(message); break;
        case Phase::examining: examining_.push_back(message); break;
        case Phase::failed: failed_.push_back(message); break;
        case Phase::settling: settling_.push_back(message); break;
        case Phase::retrying: // the retry queue has it
        case Phase::received:
        case Phase::gone: break;
        }
    }

    /// Calls `input` with each message that is in `list` now. `input` may put the message into any
    /// list, or end the message.
    template <typename Input>
    static void each_of(Messages& list, const Input& input) {
        Messages all;
        all.splice_back(list);
        while (MessageMachine* message = all.pop_front()) {
            input(*message);
        }
    }

    [[nodiscard]] Messages& gathering() noexcept { return gathering_; }
    [[nodiscard]] Messages& examining() noexcept { return examining_; }
    [[nodiscard]] Messages& failed() noexcept { return failed_; }
    [[nodiscard]] Messages& settling() noexcept { return settling_; }
    [[nodiscard]] Messages& settling_early() noexcept { return settling_early_; }
    [[nodiscard]] RetryQueue& retrying() noexcept { return retrying_; }

    /// Messages wait for a worker, or handlers run.
    [[nodiscard]] bool handlers_run() const noexcept {
        return !in_lane_.empty() || !settling_early_.empty();
    }
    [[nodiscard]] bool awaits_worker() const noexcept { return !in_lane_.empty(); }
    /// The broker has not answered all settlements.
    [[nodiscard]] bool is_settling() const noexcept {
        return !settling_.empty() || !settling_early_.empty();
    }
    /// The session awaits nothing but the broker's answers to settlements.
    [[nodiscard]] bool only_settles() const noexcept {
        return !settling_.empty() && !handlers_run() && retrying_.empty() && failed_.empty() &&
               examining_.empty() && gathering_.empty();
    }
    [[nodiscard]] bool is_gathering() const noexcept { return !gathering_.empty(); }
    [[nodiscard]] bool is_retrying() const noexcept { return !retrying_.empty(); }
    /// The number of messages that wait for their next try or to go back.
    [[nodiscard]] std::size_t retries() const noexcept { return retrying_.size(); }
    [[nodiscard]] TimePoint retry_at() const noexcept { return retrying_.next(); }
    /// Counts the messages that are in the lane or have a handler that runs. Walks the lists.
    [[nodiscard]] std::uint32_t in_lane() const noexcept {
        std::uint32_t count = 0;
        for (const Messages* messages : {&in_lane_, &settling_early_}) {
            for (const MessageMachine* each = messages->front(); each != nullptr;
                 each = messages->next(*each)) {
                ++count;
            }
        }
        return count;
    }

private:
    Messages gathering_{};      ///< waiting for more of their batch
    Messages in_lane_{};        ///< waiting for a worker or with a handler that runs
    Messages settling_early_{}; ///< settled but not answered; their handlers still run
    RetryQueue retrying_{};     ///< waiting for their next try, or for the end of parking
    Messages examining_{};      ///< waiting for the session's record
    Messages failed_{};         ///< to be abandoned once the messages behind them went back
    Messages settling_{};       ///< their handlers have ended, the broker has not answered
};

} // namespace sessionq::detail::processor
