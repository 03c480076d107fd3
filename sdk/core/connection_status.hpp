// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/time.hpp>

namespace sessionq::core {

/// How a connection does, for health.
struct ConnectionStatus {
    std::string broker{}; ///< HOST:PORT
    bool open{false};
    /// Since when there has been none. Unset: it is open, or was never asked for.
    std::optional<TimePoint> down_since{};
    std::uint64_t received{0}; ///< bytes, of the open connection
    /// How far the broker's clock is ahead of this host's, at least. Negative: behind. Zero:
    /// nothing shows a difference.
    Duration broker_ahead{};
    std::string last_failure{}; ///< why there was none last; empty: there was no failure
};

} // namespace sessionq::core
