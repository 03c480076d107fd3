// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/histogram_recorder.hpp"

namespace sessionq::core {

/// Counts of the connections of one receive thread. Any thread may read them.
struct ConnectionCounts {
    OwnCount opened{};
    OwnCount reopened{}; ///< after another one was lost
    OwnCount lost{};
    OwnCount closed{}; ///< by this side
    OwnCount failures{};
    OwnCount received{}; ///< bytes
    OwnCount sent{};     ///< bytes
};

using ConnectionCountsPtr = std::shared_ptr<ConnectionCounts>;

} // namespace sessionq::core
