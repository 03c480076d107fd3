#pragma once

#include <cstdint>

namespace sessionq::servicebus {

/// Decides what the owner of a held session may do, and what it is told when the link ends. No I/O,
/// no clock.
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
        note_lock_end,    ///< The broker ended the lock, which shows where its clock is.
        fail_settlements, ///< Those that the broker has not answered.
        tell_lost,
        tell_closed,
    };

    /// How a link ended.
    enum class End : std::uint8_t { lock_over, other };

    [[nodiscard]] Phase phase() const noexcept { return phase_; }

    /// The owner listens. True: it missed a loss. Call `next` by a later turn.
    [[nodiscard]] bool listen() noexcept;
    /// The owner settles, asks, drains or adds credit, or a drain is answered. False: the session
    /// is not held. Links are told one by one that their connection ended, so a link may be gone
    /// before `end`.
    [[nodiscard]] bool may_use(bool link_is_gone) const noexcept;
    /// A message arrived. False: nobody hears of it. The broker takes it back with the link.
    [[nodiscard]] bool may_deliver() const noexcept { return phase_ == Phase::held && listens_; }
    /// The owner closes. True: detach; `next` says when that is answered. False: there is nothing
    /// to detach.
    [[nodiscard]] bool close(bool link_is_gone) noexcept;
    /// The link ended: lost, or as the answer to a close.
    void end(End how) noexcept;

    /// What to do after an input, until it answers `none`.
    [[nodiscard]] Action next() noexcept;

private:
    [[nodiscard]] Action last() noexcept;

    Phase phase_{Phase::held};
    Action next_{Action::none};
    bool listens_{false};
};

} // namespace sessionq::servicebus
