// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::processor {

/// Counts how handlers of a processor used `HandlerDone` wrongly. Thread-safe.
struct HandlerFaults {
    std::atomic<std::uint64_t> dropped{0};  ///< destroyed without a call
    std::atomic<std::uint64_t> repeated{0}; ///< called again
};

} // namespace sessionq::processor
