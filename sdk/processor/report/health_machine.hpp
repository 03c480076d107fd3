// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sessionq/health.hpp>

#include "core/connection_status.hpp"
#include "ports/endpoint.hpp"
#include "processor/report/session_snapshot.hpp"
#include "processor/report/slot_status.hpp"
#include "processor/slots/refusal_book.hpp"

namespace sessionq::detail::processor {

/// A slot as it stands now. `SlotTable` makes it.
struct SlotSnapshot {
    std::size_t index{0};
    std::uint32_t failures{0}; ///< sessions in a row that ended with a fault
    TimePoint since{};         ///< since when it has held or awaited its session
    bool rests{false};         ///< it neither holds nor awaits a session
    SlotStatus status{.waits_for = "a session"};
};

/// Decides the health of a processor on one receive thread. The shard takes a look once a second,
/// and when the application calls `describe`. A look begins, gets the signs of the connections,
/// targets, slots and sessions, and ends with the result. No I/O, no clock.
class HealthMachine {
public:
    /// `silence`: a connected broker that sends nothing for so long counts as silent.
    /// `is_first`: this machine reports the waiting sessions for the whole processor.
    HealthMachine(const HealthBounds& bounds, Duration silence, bool is_first = true) noexcept
        : bounds_{bounds},
          silence_{silence},
          waiting_{is_first ? bounds.sessions_waiting : Duration::max()} {}

    void begin(TimePoint now) {
        now_ = now;
        reasons_.clear();
        targets_ = final_ = 0;
    }
    /// Returns an instant. The running handlers of a session need to be counted only if the session
    /// has made no progress since then.
    [[nodiscard]] TimePoint quiet_since() const noexcept {
        return now_ - std::min(bounds_.workers_busy, bounds_.handler_slow);
    }
    /// The connections, in the same order at every look.
    void connections(const std::vector<core::ConnectionStatus>& all);
    /// Takes the failure of the accepts at a target. Null: nothing is wrong.
    void target(const std::string& entity, const Refusal* refusal);
    void slot(const SlotSnapshot& slot);
    void session(const SessionSnapshot& session);
    void ready(const std::string& entity, const ports::ReadySessions& sessions);
    void buffer(std::size_t bytes, std::size_t most);
    /// Takes the number of wrong uses of `Completion` so far. `dropped`: objects that were never
    /// called. `repeated`: calls after the first call of an object.
    void handlers(std::uint64_t dropped, std::uint64_t repeated);
    [[nodiscard]] Health end();

private:
    /// A slot with so many failures in a row is reported.
    static constexpr std::uint32_t failures_to_tell = 3;
    /// After so long without a new fault, a slot counts as healthy.
    static constexpr Duration recovery = std::chrono::seconds{1};

    /// The least difference between clocks that is reported. A smaller one does no harm.
    static constexpr Duration difference_to_tell = std::chrono::seconds{5};

    /// How long a misuse is reported. It happens in an instant, but should be seen.
    static constexpr Duration misuse_to_tell = std::chrono::minutes{1};

    struct Misuse {
        std::uint64_t times{0};
        TimePoint first{}; ///< the first misuse that is still reported
        TimePoint last{};
    };

    struct Heard {
        std::uint64_t received{0};
        TimePoint at{};
        TimePoint differs_since{
            TimePoint::max()}; ///< since when its clock differs; max: it does not
        bool is_silent{false}; ///< stays true after the silent connection was given up, until
                               ///< there is a new one
    };

    void clock(const core::ConnectionStatus& status, TimePoint& differs_since);

    HealthBounds bounds_;
    Duration silence_;
    Duration waiting_; ///< how long a session may be ready and wait
    TimePoint now_{};
    std::vector<Heard> heard_{};             ///< one for each connection
    TimePoint full_since_{TimePoint::max()}; ///< max: the buffer has room
    Misuse misuse_{};
    std::vector<HealthReason> reasons_{}; ///< of this look
    std::size_t targets_{0};              ///< of this look
    std::size_t final_{0};                ///< targets of this look that are refused for good
};

} // namespace sessionq::detail::processor
