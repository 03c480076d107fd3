// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq::detail::servicebus {

/// Decides which operations the owner of a held session may begin, and how it hears of the link's
/// end. No I/O, no clock.
class LockedSessionMachine {
public:
    enum class Phase : std::uint8_t {
        held,
        losing,  ///< The link ended. The owner does not know yet.
        lost,    ///< The owner knows.
        closing, ///< The owner closed. The broker has not answered.
        closed,
    };

    enum class Action : std::uint8_t {
        none,
        tell_kept,        ///< One of the events that came before the owner listened.
        note_lock_end,    ///< The broker ended the lock, which shows where its clock is.
        fail_settlements, ///< Those that the broker has not answered.
        tell_lost,
        tell_closed,
    };

    /// How a link ended.
    enum class End : std::uint8_t { lock_over, other };

    [[nodiscard]] Phase phase() const noexcept { return phase_; }

    /// When the owner hears of a message or of the answer to a drain.
    enum class Hearing : std::uint8_t {
        never, ///< The broker takes a message back with the link.
        later, ///< Keep it.
        now,
    };

    /// The owner listens. `keeps`, here and below: events are kept for it. True: it missed
    /// something. Call `next` by a later turn.
    [[nodiscard]] bool listen(bool keeps) noexcept;
    /// The owner settles, asks, drains or adds credit, or a drain is answered. False: the session
    /// is not held. Links are told one by one that their connection ended, so a link may be gone
    /// before `end`.
    [[nodiscard]] bool may_use(bool link_is_gone) const noexcept;
    [[nodiscard]] Hearing hearing(bool keeps) const noexcept {
        if (phase_ != Phase::held) {
            return Hearing::never;
        }
        return listens_ && !keeps ? Hearing::now : Hearing::later;
    }
    /// The owner closes. True: detach; `next` says when that is answered. False: there is nothing
    /// to detach.
    [[nodiscard]] bool close(bool link_is_gone) noexcept;
    /// The link ended: lost, or as the answer to a close.
    void end(End how) noexcept;

    /// The next step after an input; `none` when there is no other.
    [[nodiscard]] Action next(bool keeps) noexcept;

private:
    [[nodiscard]] Action last() noexcept;

    Phase phase_{Phase::held};
    Action next_{Action::none};
    bool listens_{false};
};

} // namespace sessionq::detail::servicebus
