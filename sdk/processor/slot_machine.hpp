#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>
#include <sessionq/session_context.hpp>

#include "core/backoff.hpp"
#include "core/random.hpp"
#include "processor/slot_words.hpp"

namespace sessionq::processor {

/// What a shard does next for a slot.
struct SlotActions {
    bool start_accept{false};
    bool cancel_accept{
        false}; ///< give the accept under way up; its answer is dealt with in the background (R19)
    bool open_session{false};   ///< the accepted session is this slot's now
    bool leave_session{false};  ///< the held session is to be left, for `reason`
    bool wait{false};           ///< call `due` after `delay`
    bool report_failure{false}; ///< tell `on_error`
    Duration delay{};
    CloseReason reason{}; ///< with `leave_session`
};

/// What may end the wait of a slot.
struct SlotWaits {
    bool named_sessions{false}; ///< only named sessions are taken, so that all of them may be held
    bool accept{false};         ///< an accept is under way
    bool timer{false};          ///< its timer is armed
};

/// Decides what one of the places for a session does: accept, hold, roll, back off, stop (R4, R5,
/// R16, R17, R19). No I/O, no clock.
class SlotMachine {
public:
    enum class Phase : std::uint8_t {
        vacant,      ///< not started, or nothing left to accept
        accepting,   ///< an accept is under way
        holding,     ///< a session is held
        backing_off, ///< waits before the next accept
        stopped,
    };

    /// Answers that bring nothing sooner than this after the question are spaced to it, so that no
    /// broker can make a slot spin (R17).
    static constexpr Duration min_accept_interval = std::chrono::milliseconds{100};

    SlotMachine(BackoffOptions backoff, core::Random& random) noexcept
        : backoff_{backoff}, random_{random} {}

    /// The slot is wanted, also again after `stop(CloseReason::limit_lowered)`.
    [[nodiscard]] SlotActions start() noexcept;
    [[nodiscard]] SlotActions accepted() noexcept;

    /// `asked_ago`: how long the accept was under way. Where no connection could be made there is
    /// no backoff: the port has waited already, and the slot would only come late to a connection
    /// that is back.
    [[nodiscard]] SlotActions accept_failed(Errc code, Duration asked_ago) noexcept;

    /// Nothing can be accepted at present; `start` when that changes.
    void no_target() noexcept {
        if (phase_ == Phase::accepting) {
            phase_ = Phase::vacant;
        }
    }

    /// The timer ran out: the accept is unanswered long past its wait, or the wait is over.
    [[nodiscard]] SlotActions due() noexcept;

    /// The session was given back, or its lock is lost and its last handler has returned: accept
    /// the next one. `fruitless_for` is set when no message of it came: how long ago it was asked
    /// for. Such sessions are spaced like answers "no session". `held_for`: how long it was held;
    /// faults after holds that are long beside the wait do not add up to longer waits.
    [[nodiscard]] SlotActions session_left(CloseReason reason,
                                           std::optional<Duration> fruitless_for,
                                           Duration held_for) noexcept;

    /// The slot is not wanted: `limit_lowered`, or for good: `stopped`.
    [[nodiscard]] SlotActions stop(CloseReason why) noexcept;

    /// What a slot without a session does and waits for.
    [[nodiscard]] SlotWords words(const SlotWaits& waits) const noexcept;

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] std::uint32_t failures() const noexcept { return backoff_.failures() + refused_; }

private:
    [[nodiscard]] SlotActions accept_next() noexcept;
    [[nodiscard]] SlotActions space(Duration asked_ago) noexcept;
    [[nodiscard]] SlotActions back_off(Duration delay) noexcept;

    Phase phase_{Phase::vacant};
    std::optional<CloseReason> unwanted_{};
    core::Backoff backoff_;
    core::Random& random_;     ///< of jitter
    std::uint32_t refused_{0}; // connections, in a row
};

/// Whether leaving for this reason is a fault, after which the next accept waits (R17).
[[nodiscard]] bool is_fault(CloseReason reason) noexcept;

} // namespace sessionq::processor
