// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

namespace sessionq::processor {

/// What is wrong with accepts at a target.
struct Refusal {
    Failure failure{};
    TimePoint since{};      ///< the first in a row
    bool unanswered{false}; ///< the broker did not answer at all
    /// No retry mends it.
    [[nodiscard]] bool is_final() const noexcept { return !failure.retryable(); }
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
        put(target, {.failure = failure, .since = now});
    }
    /// There was no answer in time, and the accept was given up.
    void unanswered(std::size_t target, const Failure& failure, TimePoint now) {
        put(target, {.failure = failure, .since = now, .unanswered = true});
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
        if (row && !row->unanswered && asked_at && now - *asked_at >= patience) {
            row.reset();
        }
        return at(target);
    }

private:
    void put(std::size_t target, Refusal refusal) {
        std::optional<Refusal>& row = rows_[target];
        if (row && row->unanswered == refusal.unanswered) {
            refusal.since = row->since;
        }
        row = std::move(refusal);
    }

    std::vector<std::optional<Refusal>> rows_;
};

} // namespace sessionq::processor
