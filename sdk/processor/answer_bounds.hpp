#pragma once

#include <algorithm>
#include <cstdint>

#include <sessionq/time.hpp>

#include "processor/tuning.hpp"

namespace sessionq::processor {

/// Decides when a broker has had its time with what a session waits for (R15, R16).
class AnswerBounds {
public:
    /// What an answer is outstanding to.
    struct Outstanding {
        bool drain{false};
        bool settlements{false};
        bool close{false};
    };
    enum class Overdue : std::uint8_t { nothing, close, settlements, drain };

    explicit AnswerBounds(const Tuning& tuning) noexcept : tuning_{tuning} {}

    void drain_asked(TimePoint now) noexcept { drain_by_ = now + tuning_.drain_timeout; }

    /// The first settlement was sent.
    void settlements_began(TimePoint now) noexcept {
        settlements_by_ = settlements_look_ = now + tuning_.settle_timeout;
    }

    /// One of several settlements was answered: the others have their time again. The instant to
    /// look at stays, so that no timer moves with every answer.
    void settlements_moved(TimePoint now) noexcept {
        settlements_by_ = now + tuning_.settle_timeout;
    }

    void close_asked(TimePoint now) noexcept { close_by_ = now + tuning_.close_timeout; }

    /// When to look again; TimePoint::max(): nothing is outstanding.
    [[nodiscard]] TimePoint due(Outstanding outstanding) const noexcept {
        return std::min({outstanding.drain ? drain_by_ : TimePoint::max(),
                         outstanding.settlements ? settlements_look_ : TimePoint::max(),
                         outstanding.close ? close_by_ : TimePoint::max()});
    }

    /// What is not worth waiting for any longer; of several, what ends the session soonest.
    [[nodiscard]] Overdue overdue(Outstanding outstanding, TimePoint now) noexcept {
        if (outstanding.close && now >= close_by_) {
            return Overdue::close;
        }
        if (outstanding.settlements && now >= settlements_by_) {
            return Overdue::settlements;
        }
        if (now >= settlements_look_) {
            settlements_look_ = settlements_by_;
        }
        return outstanding.drain && now >= drain_by_ ? Overdue::drain : Overdue::nothing;
    }

private:
    const Tuning& tuning_;
    TimePoint drain_by_{};
    TimePoint settlements_by_{};
    TimePoint settlements_look_{};
    TimePoint close_by_{};
};

} // namespace sessionq::processor
