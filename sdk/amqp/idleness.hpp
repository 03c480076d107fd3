// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <string_view>

#include <sessionq/time.hpp>

#include "amqp/engine/frame.hpp"
#include "timing/idle_index.hpp"

namespace sessionq::amqp {

/// When heartbeats are due. At most one of the two times is set. Both zero: never.
struct HeartbeatPlan {
    /// The idle watch sends a heartbeat when nothing was sent for so long, at most a second late.
    Duration watched{};
    /// A timer of the connection does so at this interval.
    Duration timed{};

    /// `wanted`: the longest time without sending; zero: any. `peer_time_out`: the idle-time-out of
    /// the peer's open; zero: none. The client sends twice in that time.
    [[nodiscard]] static HeartbeatPlan make(Duration wanted,
                                            std::chrono::milliseconds peer_time_out) noexcept {
        using std::chrono::milliseconds;
        using std::chrono::seconds;
        // The idle watch is too coarse for a shorter timeout.
        constexpr milliseconds shortest_watched{4000};
        if (peer_time_out == milliseconds::zero()) {
            return {.watched = wanted};
        }
        const Duration most = wanted > Duration::zero() ? wanted : Duration::max();
        const Duration half = peer_time_out / 2;
        if (peer_time_out < shortest_watched) {
            return {.timed = std::min(most, std::max<Duration>(half, milliseconds{1}))};
        }
        return {.watched = std::min<Duration>(most, half - seconds{1})};
    }
};

/// Since when a connection has been idle. Heartbeats that it sent do not count. No I/O, no clock.
class Idleness {
public:
    explicit Idleness(TimePoint now) noexcept : received_{now}, sent_{now} {}

    void received(TimePoint now) noexcept { received_ = now; }
    void sent(std::string_view bytes, TimePoint now) noexcept {
        if (bytes != empty_frame) {
            sent_ = now;
        }
    }
    [[nodiscard]] Duration of(timing::IdleKind kind, TimePoint now) const noexcept {
        return now - (kind == timing::IdleKind::read ? received_ : sent_);
    }

private:
    TimePoint received_;
    TimePoint sent_;
};

} // namespace sessionq::amqp
