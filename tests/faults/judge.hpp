// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "faults/event.hpp"

namespace sessionq::faults {

/// Messages sent to a session: 1, 2, ... Each is sent after the one before is confirmed; a batch
/// counts as one send.
struct Sent {
    std::int64_t confirmed{0}; ///< confirmed up to this number
    /// sent again without an answer to the first, so there may be copies
    std::set<std::int64_t> asked_twice{};
};

struct JudgeOptions {
    /// By holder: how many settlements may be unanswered when a lock is lost. Those messages may be
    /// handled again.
    std::map<std::uint32_t, std::size_t> windows{};
    std::size_t window{1}; ///< of holders not listed
};

struct Judgement {
    std::size_t handled{0}; ///< messages whose handler returned
    std::size_t lost{0};
    std::size_t out_of_order{0};
    std::size_t unexplained{
        0}; ///< handled again without a lost lock, an unanswered settlement or a failure
    std::size_t overlaps{
        0}; ///< two handlers of a session at once in one holder, or two holders of one lock
    std::size_t intruders{0}; ///< settled after the lock had ended
    /// handlers that started after the lock had ended; suspending a process may cause one per
    /// worker
    std::size_t late{0};
    std::size_t repeats{0}; ///< handled again after a lost lock or an unanswered settlement
    std::size_t copies{0};  ///< of messages that were sent twice
    std::size_t retries{0}; ///< after a handler threw
    std::size_t leases{0};  ///< sessions opened
    std::size_t locks_lost{0};
    std::vector<std::string> words{}; ///< describes the first errors

    [[nodiscard]] bool is_clean() const noexcept {
        return lost + out_of_order + unexplained + overlaps + intruders == 0;
    }
};

/// Judges a run by the messages sent and the events observed. The only times are the events'.
[[nodiscard]] Judgement judge(std::vector<Event> events, const std::map<std::uint32_t, Sent>& sent,
                              const JudgeOptions& options);

} // namespace sessionq::faults
