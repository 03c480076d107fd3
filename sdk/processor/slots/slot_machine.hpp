// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>
#include <sessionq/session_context.hpp>

#include "core/backoff.hpp"
#include "core/random.hpp"
#include "processor/report/slot_status.hpp"

namespace sessionq::detail::processor {

/// The next steps of a slot. `SlotTable` performs them.
struct SlotActions {
    bool leave_session{false}; ///< leave the held session, for `reason`
    bool wait{false};          ///< call `due` after `delay`
    Duration delay{};
    CloseReason reason{}; ///< with `leave_session`
};

/// The things that a slot without a session may wait for.
struct SlotWaits {
    bool named_sessions{false}; ///< the slot accepts named sessions only; all may be held
    bool accept{false};         ///< an accept is under way
    bool pause{false};          ///< a pause before the next accept
    bool timer{false};          ///< the slot's own timer is armed
};

/// Decides the next step of one slot: look for a session, hold it, roll, back off or stop (R4, R16,
/// R17). `SlotTable` owns the machine, and tells it when its session comes or leaves and when the
/// demand changes. No I/O, no clock.
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

    /// Follows the demand. `unwanted`: why the slot is not wanted: `limit_lowered`, `paused`, or
    /// `stopped`, which is final. Unset: the slot is wanted. If the slot is wanted again while its
    /// session is being left, the session is left all the same.
    [[nodiscard]] SlotActions follow(std::optional<CloseReason> unwanted) noexcept;
    void accepted() noexcept;
    /// The wait that an action asked for is over.
    void due() noexcept;

    /// The session has left the slot: it was given back or parked, or its lock is lost and its last
    /// handler has returned. The slot looks for the next session.
    ///
    /// `fruitless_for`: the time since the session's accept was sent, if no message of the session
    /// came; otherwise unset. After such a session the slot waits as after the answer "no session".
    /// `held_for`: how long the session was held. A fault after a long hold starts a new backoff,
    /// and does not lengthen the backoff of earlier faults.
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

/// Whether a session that is left for this reason has met a fault. After a fault, the next accept
/// waits (R17).
[[nodiscard]] bool is_fault(CloseReason reason) noexcept;

} // namespace sessionq::detail::processor
