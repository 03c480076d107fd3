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
#include "processor/report/session_signs.hpp"
#include "processor/report/slot_words.hpp"
#include "processor/slots/refusal_book.hpp"

namespace sessionq::processor {

/// What a slot shows.
struct SlotSigns {
    std::size_t index{0};
    std::uint32_t failures{0}; ///< sessions in a row that a fault ended
    TimePoint since{};         ///< it has held or awaited its session since then
    bool rests{false};         ///< it neither holds nor awaits one
    SlotWords words{.waits_for = "a session"};
};

/// Decides the health of what a processor has on one receive thread. A look begins, gets what there
/// is to see, and ends with the result. No I/O, no clock.
class HealthMachine {
public:
    /// `silence`: how long a broker that is there may send nothing.
    /// `is_first`: tells of the sessions that wait for the whole processor.
    HealthMachine(const HealthBounds& bounds, Duration silence, bool is_first = true) noexcept
        : bounds_{bounds},
          silence_{silence},
          waiting_{is_first ? bounds.sessions_waiting : Duration::max()} {}

    void begin(TimePoint now) {
        now_ = now;
        reasons_.clear();
        targets_ = final_ = 0;
    }
    /// The handlers of a session are counted only if it made no progress since then.
    [[nodiscard]] TimePoint quiet_since() const noexcept {
        return now_ - std::min(bounds_.workers_busy, bounds_.handler_slow);
    }
    /// In the same order at every look.
    void connections(const std::vector<core::ConnectionStatus>& all);
    /// Null: nothing is wrong with it.
    void target(const std::string& entity, const Refusal* refusal);
    void slot(const SlotSigns& slot);
    void session(const SessionSigns& session);
    void ready(const std::string& entity, const ports::ReadySessions& sessions);
    void buffer(std::size_t bytes, std::size_t most);
    /// How often the application misused `HandlerDone` so far: dropped it, or called it again.
    void handlers(std::uint64_t dropped, std::uint64_t repeated);
    [[nodiscard]] Health end();

private:
    /// From so many failures in a row on a slot is told of.
    static constexpr std::uint32_t failures_to_tell = 3;
    /// What goes well for so long has no fault any more.
    static constexpr Duration recovery = std::chrono::seconds{1};

    /// Clocks that are less far apart disturb nothing.
    static constexpr Duration difference_to_tell = std::chrono::seconds{5};

    /// A defect of the application shows for an instant only, but should be seen.
    static constexpr Duration misuse_to_tell = std::chrono::minutes{1};

    struct Misuse {
        std::uint64_t times{0};
        TimePoint first{}; ///< of those that are told
        TimePoint last{};
    };

    struct Heard {
        std::uint64_t received{0};
        TimePoint at{};
        TimePoint differs_since{TimePoint::max()}; ///< its clock; max: it does not
        bool is_silent{false}; ///< also when it was given up for that, until there is another one
    };

    void clock(const core::ConnectionStatus& status, TimePoint& differs_since);

    HealthBounds bounds_;
    Duration silence_;
    Duration waiting_; ///< how long a session may be ready
    TimePoint now_{};
    std::vector<Heard> heard_{};             ///< by connection
    TimePoint full_since_{TimePoint::max()}; ///< max: the buffer has room
    Misuse misuse_{};
    std::vector<HealthReason> reasons_{}; ///< of this look
    std::size_t targets_{0};              ///< of this look
    std::size_t final_{0};                ///< of those, refused for good
};

} // namespace sessionq::processor
