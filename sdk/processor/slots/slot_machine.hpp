// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>
#include <sessionq/session_context.hpp>

#include "core/backoff.hpp"
#include "core/random.hpp"
#include "processor/report/slot_words.hpp"

namespace sessionq::processor {

/// What a shard does next for a slot.
struct SlotActions {
    bool leave_session{false}; ///< the held session is to be left, for `reason`
    bool wait{false};          ///< call `due` after `delay`
    Duration delay{};
    CloseReason reason{}; ///< with `leave_session`
};

/// What a slot without a session may wait for.
struct SlotWaits {
    bool named_sessions{false}; ///< only named sessions are taken, so that all of them may be held
    bool accept{false};         ///< an accept is under way
    bool pause{false};          ///< a pause before the next accept
    bool timer{false};          ///< its own timer is armed
};

/// Decides what one of the places for a session does: look for one, hold it, roll, back off, stop
/// (R4, R16, R17). No I/O, no clock.
class SlotMachine {
public:
    enum class Phase : std::uint8_t {
        free,        ///< looks for a session
        holding,     ///< a session is held
        backing_off, ///< waits before it looks for the next one
        stopped,     ///< not wanted, or not yet
    };

    SlotMachine(BackoffOptions backoff, core::Random& random) noexcept
        : backoff_{backoff}, random_{random} {}

    /// Whether the slot is wanted (unset), or why not: `limit_lowered`, `paused`, or for good:
    /// `stopped`. A slot that becomes wanted while its session is being left keeps it until then.
    [[nodiscard]] SlotActions follow(std::optional<CloseReason> unwanted) noexcept;
    void accepted() noexcept;
    /// The wait is over.
    void due() noexcept;

    /// The session was given back or parked, or its lock is lost and its last handler has returned:
    /// look for the next one. `fruitless_for` is set when no message of it came: how long ago it
    /// was asked for. Such sessions are spaced like answers "no session". `held_for`: how long it
    /// was held; faults after holds that are long beside the wait do not add up to longer waits.
    [[nodiscard]] SlotActions session_left(CloseReason reason,
                                           std::optional<Duration> fruitless_for,
                                           Duration held_for) noexcept;

    /// What a slot without a session does and waits for.
    [[nodiscard]] SlotWords words(const SlotWaits& waits) const noexcept;

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    /// Sessions in a row that a fault ended.
    [[nodiscard]] std::uint32_t failures() const noexcept { return backoff_.failures(); }

private:
    void start() noexcept;
    [[nodiscard]] SlotActions stop(CloseReason why) noexcept;
    [[nodiscard]] SlotActions back_off(Duration delay) noexcept;

    Phase phase_{Phase::stopped};
    std::optional<CloseReason> unwanted_{};
    core::Backoff backoff_;
    core::Random& random_; ///< of jitter
};

/// Whether leaving for this reason is a fault, after which the next accept waits (R17).
[[nodiscard]] bool is_fault(CloseReason reason) noexcept;

} // namespace sessionq::processor
