// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::detail::processor {

/// The number of wrong uses of `Completion` by the handlers of a processor. `Completion` counts
/// them, and the health of the processor shows them. Thread-safe.
struct HandlerFaults {
    std::atomic<std::uint64_t> dropped{0};  ///< destroyed and never used
    std::atomic<std::uint64_t> repeated{0}; ///< used again
};

} // namespace sessionq::detail::processor
