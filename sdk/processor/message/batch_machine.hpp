// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "processor/message/message_machine.hpp"

namespace sessionq::detail::processor {

/// Decides which messages of a lane form a batch. When the handler has ended, it decides whether
/// each message was handled, has failed, or returns to the lane. It also decides in which order the
/// session is told of the messages. `BatchCall` asks it before and after the handler. No I/O, no
/// clock, any thread.
class BatchMachine {
public:
    /// Returns whether a waiting message joins a batch that has begun. If not, it stays in the
    /// lane, and `MessageMachine::may_start` decides about it later. These do not join:
    /// - an `expired` message,
    /// - a guarded message, which may have killed consumers. It is alone in its batch, so that a
    ///   further death shows its cause,
    /// - if `examines`: a suspect before the session's record was read for it (`Suspect`).
    [[nodiscard]] static bool joins(const MessageMachine& message, bool expired,
                                    bool examines) noexcept {
        return !expired && !message.is_guarded() &&
               !(examines && message.is_suspect() && !message.is_examined());
    }

    /// The handler of `count` messages has ended. `open`: the index of the first message that the
    /// handler did not settle; `count`: it settled all. `failed`: the handler threw, or did not
    /// settle a message that it had to settle. `stated`: the index of the first message whose
    /// failure the handler stated (`MessageContext::fail`); `count`: there is none, or it threw.
    BatchMachine(std::size_t count, std::size_t open, bool failed, std::size_t stated) noexcept
        : failed_{std::min(failed ? std::min(open, count - 1) : count, stated)} {}

    /// Returns the index of the message that failed; `count`: no message failed. If the handler
    /// threw after it had settled all messages, the last message carries the failure.
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }

    /// Returns how a message ends. `decided`: the handler settled it. A settled message stays
    /// settled. An unsettled message behind the failed message returns to the lane.
    [[nodiscard]] Ending ending(std::size_t index, bool decided) const noexcept {
        if (index == failed_) {
            return Ending::failed;
        }
        return decided || index < failed_ ? Ending::handled : Ending::given_back;
    }

    /// Sorts messages into the order in which the session is told of them. `Calls` may hold
    /// anything with an `end()`. The order:
    /// 1. The messages that leave.
    /// 2. The messages that return to the lane, the last message first. So the first message ends
    /// up in front.
    /// 3. The messages that failed or were released.
    /// 4. The abandoned messages. The messages behind them must go back to the broker first (R6),
    /// and these messages are in the lane by now. Messages that wait for their next try go back
    /// too.
    template <typename Calls>
    static void order(Calls& calls) {
        const auto stage = [](const auto* call) { return stage_of(call->end()); };
        if (!std::ranges::is_sorted(calls, {}, stage)) {
            std::ranges::stable_sort(calls, {}, stage);
        }
        const auto is_before = [&](Stage end) {
            return [&stage, end](const auto* call) { return stage(call) < end; };
        };
        const auto first =
            std::partition_point(calls.begin(), calls.end(), is_before(Stage::returns));
        const auto last = std::partition_point(first, calls.end(), is_before(Stage::failed));
        std::reverse(first, last);
    }

private:
    enum class Stage : std::uint8_t { leaves, returns, failed, abandoned };

    [[nodiscard]] static Stage stage_of(const MessageEnd& end) noexcept {
        if (end.ending == Ending::given_back) {
            return Stage::returns;
        }
        if (end.decision == ports::Outcome::abandon) {
            return Stage::abandoned;
        }
        const bool waits = end.decision ? goes_back(*end.decision) : end.ending == Ending::failed;
        return waits ? Stage::failed : Stage::leaves;
    }

    std::size_t failed_;
};

} // namespace sessionq::detail::processor
