// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <sessionq/processor_report.hpp>
#include <sessionq/time.hpp>

#include "processor/report/slot_status.hpp"

namespace sessionq::detail::processor {

/// The state of a held session now, for health and for people. `SessionDriver` makes it.
/// `HealthMachine` and `describe` read it.
struct SessionSnapshot {
    const std::string& entity;
    const std::string& session_id;
    SlotStatus status{.waits_for = "messages"};
    TimePoint progress_at{};                      ///< `SessionMachine::progress_at`
    TimePoint unanswered_since{TimePoint::max()}; ///< max: no settlement is unanswered
    std::uint32_t window{0};
    std::uint32_t in_flight{0};
    std::uint32_t running{0};  ///< handlers; zero if it made progress lately
    Duration ready_for{};      ///< `SlotDescription::ready_for`; zero if it made progress lately
    bool awaits_worker{false}; ///< messages may start, and nothing else is awaited
    bool renewal_late{false};
    bool parked{false};
    bool open_failed{false}; ///< it is parked because on_session_open threw
};

[[nodiscard]] SlotDescription describe(const SessionSnapshot& snapshot, TimePoint now);

} // namespace sessionq::detail::processor
