// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace sessionq::faults {

/// Figures of this process from the kernel.
[[nodiscard]] std::size_t thread_count();
[[nodiscard]] std::size_t resident_bytes();

/// Returns false under a sanitizer that keeps freed memory.
[[nodiscard]] constexpr bool memory_is_telling() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

} // namespace sessionq::faults
