// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// The failure of the accepts at a target.
struct Refusal {
    Failure failure{};
    TimePoint since{};      ///< when the first failure in a row came
    bool unanswered{false}; ///< the broker did not answer at all
    /// Whether every retry would fail too.
    [[nodiscard]] bool is_final() const noexcept { return !failure.retryable(); }
};

/// Remembers for each target why accepts fail. `AcceptTable` records the answers here, and shows
/// the failures to the health of the processor. A failure is over when a session comes, when the
/// broker answers that no session is ready, or when an accept waits and is not refused. No I/O, no
/// clock.
class RefusalBook {
public:
    /// An accept that waits for longer than this was not refused.
    static constexpr Duration patience = std::chrono::seconds{1};

    explicit RefusalBook(std::size_t targets) : rows_(targets) {}

    void resize(std::size_t targets) { rows_.resize(targets); }

    void failed(std::size_t target, const Failure& failure, TimePoint now) {
        put(target, {.failure = failure, .since = now});
    }
    /// No answer came in time, and the accept was given up.
    void unanswered(std::size_t target, const Failure& failure, TimePoint now) {
        put(target, {.failure = failure, .since = now, .unanswered = true});
    }
    /// The broker gave a session, or had none to give.
    void answered(std::size_t target) noexcept { rows_[target].reset(); }

    /// The failure at a target. Null: nothing is wrong.
    [[nodiscard]] const Refusal* at(std::size_t target) const noexcept {
        const std::optional<Refusal>& row = rows_[target];
        return row ? &*row : nullptr;
    }
    /// Returns the failure at a target, after a look at the oldest accept under way there; null:
    /// nothing is wrong. `asked_at`: when that accept was sent; unset: no accept is under way. If
    /// that accept has waited for `patience`, it was not refused, and the failure is over.
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

} // namespace sessionq::detail::processor
