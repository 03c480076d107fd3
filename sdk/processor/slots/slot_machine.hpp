// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>
#include <sessionq/session_context.hpp>

#include "core/backoff.hpp"
#include "core/random.hpp"
#include "processor/report/slot_status.hpp"

namespace sessionq::processor {

/// The next steps of a slot. `SlotTable` performs them.
struct SlotActions {
    bool leave_session{false}; ///< leave the held session, for `reason`
    bool wait{false};          ///< call `due` after `delay`
    Duration delay{};
    CloseReason reason{}; ///< with `leave_session`
};

/// The things that a slot without a session may wait for.
struct SlotWaits {
    bool named_sessions{false}; ///< only named sessions are accepted, so all of them may be held
    bool accept{false};         ///< an accept is under way
    bool pause{false};          ///< a pause before the next accept
    bool timer{false};          ///< the slot's own timer is armed
};

/// Decides for one slot: look for a session, hold it, roll, back off or stop (R4, R16, R17).
/// `SlotTable` owns it, and tells it when its session comes or leaves and when the demand changes.
/// No I/O, no clock.
class SlotMachine {
public:
    enum class Phase : std::uint8_t {
        free,        ///< looks for a session
        holding,     ///< a session is held
        backing_off, ///< waits before it looks for the next one
        stopped,     ///< the slot is not wanted, or not yet
    };

    SlotMachine(BackoffOptions backoff, core::Random& random) noexcept
        : backoff_{backoff}, random_{random} {}

    /// Follows the demand. Unset: the slot is wanted. Else the reason why not: `limit_lowered`,
    /// `paused`, or `stopped`, which is final. If the slot is wanted again while its session is
    /// being left, it keeps that session until the end.
    [[nodiscard]] SlotActions follow(std::optional<CloseReason> unwanted) noexcept;
    void accepted() noexcept;
    /// The wait that an action asked for is over.
    void due() noexcept;

    /// The session has left the slot: it was given back or parked, or its lock is lost and its last
    /// handler has returned. The slot looks for the next session.
    ///
    /// `fruitless_for`: the time since the session's accept was sent, set only if no message of it
    /// came. Such sessions are spaced like answers "no session". `held_for`: how long the session
    /// was held. After a long hold, a fault does not add up with earlier ones to a longer wait.
    [[nodiscard]] SlotActions session_left(CloseReason reason,
                                           std::optional<Duration> fruitless_for,
                                           Duration held_for) noexcept;

    /// The state of a slot without a session, and the thing that it waits for.
    [[nodiscard]] SlotStatus status(const SlotWaits& waits) const noexcept;

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    /// How many sessions in a row were ended by a fault.
    [[nodiscard]] std::uint32_t failures() const noexcept { return backoff_.failures(); }

private:
    void start() noexcept;
    [[nodiscard]] SlotActions stop(CloseReason why) noexcept;
    [[nodiscard]] SlotActions back_off(Duration delay) noexcept;

    Phase phase_{Phase::stopped};
    std::optional<CloseReason> unwanted_{};
    core::Backoff backoff_;
    core::Random& random_; ///< for jitter
};

/// Whether a session that is left for this reason has met a fault. The next accept waits then
/// (R17).
[[nodiscard]] bool is_fault(CloseReason reason) noexcept;

} // namespace sessionq::processor
