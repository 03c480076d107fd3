// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

#include "groups/drain_repeat.hpp"

namespace sessionq::groups {

/// Decides when a receiver link is attached, drained and given up. No I/O, no clock.
///
/// The link is attached while it is of use: while a session is held or an accept waits. Some steps
/// must not cross with messages under way, so they are done at the answer to a drain: messages go
/// back, an accept is answered "none available", the link is given up.
class ReceiverMachine {
public:
    enum class Phase : std::uint8_t {
        detached,
        connecting, ///< waits for the connection
        attaching,  ///< waits for the broker's attach
        attached,
        draining, ///< attached, waits for the answer to a drain
        closing,  ///< waits for the broker's detach
    };
    enum class Action : std::uint8_t {
        none,
        connect,      ///< wait for the connection, then call `connected` or `lost`
        flow,         ///< give credit
        drain,        ///< probe and drain, then call `drained`
        repeat_drain, ///< the broker may have overlooked the drain: send it again
        close,        ///< release waiting messages, and detach
        abandon,      ///< the broker does not answer: drop the link
        finish,       ///< the receiver is of no more use
    };

    /// The purposes of the link, as the caller sees them now.
    struct Use {
        bool waited_for{false}; ///< an accept waits
        bool held{false};       ///< a session is open
        bool has_groups{false}; ///< the group table is not empty
        [[nodiscard]] bool none() const noexcept { return !waited_for && !held; }
    };

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool is_attached() const noexcept {
        return phase_ == Phase::attached || phase_ == Phase::draining;
    }
    /// Whether credit may be given.
    [[nodiscard]] bool may_flow() const noexcept {
        return phase_ == Phase::attached && !recycling_;
    }
    /// Whether sessions that have left may be told so: the broker has the link back, or it is of
    /// use again.
    [[nodiscard]] bool has_left(const Use& use) const noexcept {
        return !use.none() || phase_ == Phase::detached;
    }
    /// When to call `on_time`; TimePoint::max(): not at all.
    [[nodiscard]] TimePoint due() const noexcept {
        return phase_ == Phase::draining ? drain_.due() : idle_at_;
    }

    /// An accept waits.
    [[nodiscard]] Action wanted() noexcept;
    void connected() noexcept;
    /// `idle`: how long all groups must be idle before the link is given up, so that the broker may
    /// give groups that are pinned to it to others. Zero: never.
    void attached(Duration idle) noexcept;
    /// `dealt_anew`: the broker marks the message as the first since it dealt the group to us.
    void arrived(bool dealt_anew) noexcept;
    [[nodiscard]] Action want_drain(TimePoint now) noexcept;
    /// The answer to a drain. The steps that waited for it are done already. `flow` may be followed
    /// by a drain that was wanted meanwhile: call `drain_again`.
    [[nodiscard]] Action drained(const Use& use) noexcept;
    [[nodiscard]] Action drain_again(TimePoint now) noexcept;
    /// A session was left, an accept ended, or the link was attached or lost.
    [[nodiscard]] Action use_changed(const Use& use, TimePoint now) noexcept;
    [[nodiscard]] Action on_time(const Use& use, TimePoint now) noexcept;
    /// The link is gone, or could not be attached.
    void lost() noexcept;

private:
    Phase phase_{Phase::detached};
    Duration idle_{};
    TimePoint idle_at_{TimePoint::max()};
    DrainRepeat drain_{};
    bool drain_again_{false};
    bool recycling_{false};  // all groups were idle for long: the link goes at the next drain
    bool deals_anew_{false}; // the queue marks the first message of a group
    bool has_received_{false};
};

} // namespace sessionq::groups
