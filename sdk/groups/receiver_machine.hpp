// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

#include "groups/drain_repeat.hpp"

namespace sessionq::groups {

/// Decides when a receiver link that groups share is attached, drained and given up. Each
/// `GroupReceiver` has a machine. No I/O, no clock.
///
/// The link is attached while a session is open or an accept waits. Three steps would go wrong if a
/// message was under way: messages go back to the broker, an accept is answered "none available",
/// and the link is given up. So each of them waits for the answer to a drain.
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
        drain,        ///< begin the probes and drain, then call `drained`
        repeat_drain, ///< the broker may have overlooked the drain: send it again
        close,        ///< release waiting messages, and detach
        abandon,      ///< the broker does not answer: drop the link
        finish,       ///< nobody needs the receiver any more
    };

    /// The reasons to keep the link, as the caller sees them now.
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
    /// Whether closed sessions may be told that they have left. They may be told if the broker has
    /// the link back, or if other sessions or accepts need the link.
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
    /// The link is attached. The link is given up when all its groups have been idle for `idle`.
    /// The broker may then give the groups that are pinned to the link to other consumers. Zero: an
    /// idle link is kept.
    void attached(Duration idle) noexcept;
    /// `dealt_anew`: the broker marks the message as the first since it dealt the group to us.
    void arrived(bool dealt_anew) noexcept;
    [[nodiscard]] Action want_drain(TimePoint now) noexcept;
    /// The broker answered a drain, and the steps that waited for the answer are done. If this
    /// returns `flow`, perform it and then call `drain_again`.
    [[nodiscard]] Action drained(const Use& use) noexcept;
    /// Begins the drain that was wanted while the last one was unanswered.
    [[nodiscard]] Action drain_again(TimePoint now) noexcept;
    /// A session was closed, an accept ended, or the link was attached or lost.
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
