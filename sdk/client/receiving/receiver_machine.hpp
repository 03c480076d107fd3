// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::detail::client {

/// The actions that a receiver takes now. If several are set, it takes them in the order of the
/// members.
struct ReceiverActions {
    bool refuse{false}; ///< Once: waiting operations fail, and the stop token fires.
    bool detach{false}; ///< Give the session back. The answer goes to `detached`.
    bool end{false};    ///< Once: answer the closers and drop the link.
};

/// Decides how a receiver leaves its session (R3). The receiver drains its link and then detaches
/// it, within `close_timeout`. If the session is lost, the receiver ends at once. Each
/// `SessionReceiverCore` has a machine and performs its actions. No I/O, no clock.
class ReceiverMachine {
public:
    /// How long a broker may take to answer when a session is given back. After that time the
    /// receiver drops the link. Then the broker takes the session back, too.
    static constexpr Duration close_timeout = std::chrono::seconds{5};

    enum class Phase : std::uint8_t {
        open,
        draining,  ///< Credit is being taken back.
        detaching, ///< The broker was told that the session is left.
        ended,
    };

    /// The application closes the receiver. `draining`: a drain is outstanding.
    [[nodiscard]] ReceiverActions close(TimePoint now, bool draining) noexcept {
        if (phase_ != Phase::open) {
            return {};
        }
        phase_ = draining ? Phase::draining : Phase::detaching;
        close_by_ = now + close_timeout;
        return {.refuse = true, .detach = !draining};
    }

    /// The broker answered a drain.
    [[nodiscard]] ReceiverActions drained() noexcept {
        if (phase_ != Phase::draining) {
            return {};
        }
        phase_ = Phase::detaching;
        return {.detach = true};
    }

    /// The broker answered the detach.
    [[nodiscard]] ReceiverActions detached() noexcept {
        return phase_ == Phase::detaching ? end() : ReceiverActions{};
    }

    /// The lock or the link is lost, or the client ends.
    [[nodiscard]] ReceiverActions lost() noexcept {
        return phase_ == Phase::ended ? ReceiverActions{} : end();
    }

    /// Ends a close that took too long.
    [[nodiscard]] ReceiverActions look(TimePoint now) noexcept {
        return now >= close_by_ ? end() : ReceiverActions{};
    }

    /// When to look again; TimePoint::max(): never.
    [[nodiscard]] TimePoint next() const noexcept { return close_by_; }

    [[nodiscard]] Phase phase() const noexcept { return phase_; }

private:
    ReceiverActions end() noexcept {
        const bool refuse = phase_ == Phase::open;
        phase_ = Phase::ended;
        close_by_ = TimePoint::max();
        return {.refuse = refuse, .end = true};
    }

    Phase phase_{Phase::open};
    TimePoint close_by_{TimePoint::max()};
};

} // namespace sessionq::detail::client
