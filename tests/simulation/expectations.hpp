#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include <sessionq/processor_options.hpp>
#include <sessionq/time.hpp>

namespace sessionq::simulation {

/// What the oracles hold the consumer to: its configuration, and what the world did that excuses
/// something.
struct Expectations {
    ProcessorOptions options{};
    std::size_t entities{1};
    std::size_t workers{1};

    Duration drain_bound{
        std::chrono::seconds{5}}; ///< an unanswered drain is waited for at least so long
    Duration settle_bound{std::chrono::seconds{30}}; ///< settlements none of which is answered ...

    bool limits_change{false};   ///< limits are changed while it runs
    bool voluntary_leave{false}; ///< some session was left on the application's word
    bool faults_possible{false};
    bool stalls_possible{false};
    bool connects{false}; ///< there are connections to be made anew, with a backoff of their own
    Duration aftermath{}; ///< how long what went wrong may still be felt when it is calm, beyond
                          ///< what the consumer itself waits
    TimePoint calm_since{TimePoint::max()}; ///< no fault begins after it

    TimePoint stop_asked{TimePoint::max()};
    TimePoint stop_deadline{TimePoint::max()};
    bool stop_answered{false};
    bool stop_is_quick{false};      ///< nothing in this world keeps a stop waiting
    std::uint64_t handlers_left{0}; ///< what the report of `stop` says

    /// Limits in force, oldest first; a lowered one is excused for those who read it in the same
    /// instant.
    struct Limits {
        TimePoint since{};
        ConcurrencyLimits limits{};
    };
    std::deque<Limits> limits{};

    /// The highest of all so far.
    [[nodiscard]] std::uint32_t highest_sessions() const {
        std::uint32_t found = 0;
        for (const Limits& each : limits) {
            found = std::max(found, each.limits.max_concurrent_sessions);
        }
        return found;
    }

    /// The highest value of a limit that somebody may still go by at `now`.
    [[nodiscard]] std::uint32_t highest(std::uint32_t ConcurrencyLimits::*which,
                                        TimePoint now) const {
        std::uint32_t found = limits.back().limits.*which;
        for (std::size_t i = 0; i + 1 < limits.size(); ++i) {
            if (limits[i + 1].since + std::chrono::milliseconds{25} >=
                now) { // replaced so lately that a call taken under it may start now
                const std::uint32_t value = limits[i].limits.*which;
                found = value == 0 || found == 0 ? 0 : std::max(found, value);
            }
        }
        return found;
    }
};

} // namespace sessionq::simulation
