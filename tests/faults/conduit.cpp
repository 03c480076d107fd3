// SPDX-License-Identifier: MIT
#include "faults/conduit.hpp"

#include <algorithm>

namespace sessionq::faults {

void Conduit::arrived(std::size_t bytes, TimePoint now) {
    TimePoint due = now;
    if (now < delays_until_) {
        due += delay_ + Duration{static_cast<Duration::rep>(
                            random_.below(static_cast<std::uint64_t>(jitter_.count()) + 1))};
    }
    if (!pieces_.empty()) {
        due = std::max(due, pieces_.back().due); // bytes never overtake earlier ones
    }
    pieces_.push_back({bytes, due});
    held_ += bytes;
}

Conduit::Next Conduit::next(TimePoint now) const noexcept {
    if (is_black_hole_) {
        return {};
    }
    const TimePoint ready = std::max(
        {stalled_until_, free_at_, pieces_.empty() ? TimePoint::min() : pieces_.front().due});
    if (pieces_.empty() && !has_ended_) {
        return {};
    }
    if (ready > now) {
        return {.at = ready};
    }
    if (pieces_.empty()) {
        return {.end = true};
    }
    std::size_t most = held_;
    if (now < trickles_until_) {
        most = 1;
    } else if (now < throttled_until_) {
        // fifty times a second
        most = std::max<std::size_t>(static_cast<std::size_t>(rate_ / 50), 1);
    }
    std::size_t bytes = 0;
    for (auto piece = pieces_.begin(); piece != pieces_.end() && piece->due <= now && bytes < most;
         ++piece) {
        bytes += piece->bytes;
    }
    return {.bytes = std::min(bytes, most)};
}

void Conduit::gone(std::size_t bytes, TimePoint now) noexcept {
    held_ -= bytes;
    if (now < trickles_until_) {
        free_at_ = now + trickle_pace;
    } else if (now < throttled_until_) {
        free_at_ = now + std::chrono::nanoseconds{
                             static_cast<std::int64_t>(1'000'000'000ULL * bytes / rate_)};
    }
    while (bytes != 0) {
        Piece& first = pieces_.front();
        const std::size_t part = std::min(bytes, first.bytes);
        first.bytes -= part;
        bytes -= part;
        if (first.bytes == 0) {
            pieces_.pop_front();
        }
    }
}

} // namespace sessionq::faults
