// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

namespace sessionq::processor {

/// What is wrong with accepts at a target.
struct Refusal {
    Failure failure{};
    TimePoint since{}; ///< the first in a row
    /// No retry mends it.
    [[nodiscard]] bool is_final() const noexcept {
        return failure.code != Errc::timeout && !failure.retryable();
    }
};

/// Keeps why accepts fail, by target, and decides when that is over: with a session, with the
/// answer that there is none, or when the broker lets an accept wait instead of refusing it. No
/// I/O, no clock.
class RefusalBook {
public:
    /// An accept that waits for longer than this was not refused.
    static constexpr Duration patience = std::chrono::seconds{1};

    explicit RefusalBook(std::size_t targets) : rows_(targets) {}

    void resize(std::size_t targets) { rows_.resize(targets); }

    void failed(std::size_t target, const Failure& failure, TimePoint now) {
        std::optional<Refusal>& row = rows_[target];
        const bool goes_on = row && is_unanswered(*row) == (failure.code == Errc::timeout);
        row = Refusal{.failure = failure, .since = goes_on ? row->since : now};
    }
    /// It gave a session, or had none to give.
    void answered(std::size_t target) noexcept { rows_[target].reset(); }

    /// Null: nothing is wrong.
    [[nodiscard]] const Refusal* at(std::size_t target) const noexcept {
        const std::optional<Refusal>& row = rows_[target];
        return row ? &*row : nullptr;
    }
    /// The same after a look at the oldest accept that is under way there; unset: none is.
    [[nodiscard]] const Refusal* look(std::size_t target, std::optional<TimePoint> asked_at,
                                      TimePoint now) {
        std::optional<Refusal>& row = rows_[target];
        if (row && !is_unanswered(*row) && asked_at && now - *asked_at >= patience) {
            row.reset();
        }
        return at(target);
    }

private:
    /// That an accept waits shows nothing then.
    [[nodiscard]] static bool is_unanswered(const Refusal& refusal) noexcept {
        return refusal.failure.code == Errc::timeout;
    }

    std::vector<std::optional<Refusal>> rows_;
};

} // namespace sessionq::processor
