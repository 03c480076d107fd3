// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "processor/message/message_machine.hpp"

namespace sessionq::processor {

/// Decides which messages of a lane go into one batch, how each ends when the handler has ended,
/// and in which order their session is told. No I/O, no clock, any thread.
class BatchMachine {
public:
    /// Whether a message that waits goes into a batch that has begun. If not, it begins the next
    /// one, and there it is decided whether it starts at all. `examines`: the session's record is
    /// asked before a suspect starts. Of messages that may have killed consumers each is alone in
    /// its batch, so that it is known which one killed.
    [[nodiscard]] static bool joins(const MessageMachine& message, bool expired,
                                    bool examines) noexcept {
        return !expired && !message.is_guarded() &&
               !(examines && message.is_suspect() && !message.is_examined());
    }

    /// The handler of `count` messages has ended. `open`: the first that it did not settle itself;
    /// `count`: none. `failed`: it threw.
    BatchMachine(std::size_t count, std::size_t open, bool failed) noexcept
        : failed_{failed ? std::min(open, count - 1) : count} {}

    /// The message that failed; `count`: none. If the handler threw after it had settled all, the
    /// last one tells of it.
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }

    /// What was settled stands. What is behind the message that failed returns.
    [[nodiscard]] Ending ending(std::size_t index, bool decided) const noexcept {
        if (index == failed_) {
            return Ending::failed;
        }
        return decided || index < failed_ ? Ending::handled : Ending::given_back;
    }

    /// Puts what has an `end()` into the order in which the session is told of it. What leaves
    /// comes first. Then what returns to the lane, the last message before the others, so that the
    /// first is in front. Then what failed or was released, and at the end what was abandoned: by
    /// then all that is to go back before it is in the lane (R6), and what waits goes back, too.
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

} // namespace sessionq::processor
