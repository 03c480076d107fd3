#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "faults/event.hpp"

namespace sessionq::faults {

/// What was sent to a session: the messages 1, 2, ... each only after the one before was confirmed
/// (those of a batch together).
struct Sent {
    std::int64_t confirmed{0};            ///< up to here
    std::set<std::int64_t> asked_twice{}; ///< sent again for want of an answer: there may be copies
};

struct JudgeOptions {
    /// By holder: how many settlements may be without an answer when a lease is lost. Those
    /// messages may be handled again.
    std::map<std::uint32_t, std::size_t> windows{};
    std::size_t window{1}; ///< of holders that are not named
};

struct Judgement {
    std::size_t handled{0}; ///< messages of which a handler returned
    std::size_t lost{0};
    std::size_t out_of_order{0};
    std::size_t unexplained{
        0}; ///< handled again without a lost lease, an unanswered settlement or a failure
    std::size_t overlaps{
        0}; ///< two handlers of a session at once in one holder; two holders of one lease
    std::size_t intruders{0}; ///< settled after the lease had ended
    std::size_t late{0}; ///< handlers that started after the lease had ended; a process stopped at
                         ///< the wrong instant may cause one per worker
    std::size_t repeats{0}; ///< handled again after a lease was lost or a settlement unanswered
    std::size_t copies{0};  ///< of messages sent twice
    std::size_t retries{0}; ///< after a handler threw
    std::size_t leases{0};  ///< sessions opened
    std::size_t leases_lost{0};
    std::vector<std::string> words{}; ///< about the first of what should not be

    [[nodiscard]] bool is_clean() const noexcept {
        return lost + out_of_order + unexplained + overlaps + intruders == 0;
    }
};

/// Judges a run by what was sent and what consumers saw; no clock but the events'.
[[nodiscard]] Judgement judge(std::vector<Event> events, const std::map<std::uint32_t, Sent>& sent,
                              const JudgeOptions& options);

} // namespace sessionq::faults
