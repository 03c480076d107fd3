#pragma once

#include <cstddef>

namespace sessionq::faults {

/// Of this process, as the kernel counts.
[[nodiscard]] std::size_t thread_count();
[[nodiscard]] std::size_t resident_bytes();

/// Whether figures of memory say something: a sanitizer keeps what is freed.
[[nodiscard]] constexpr bool memory_is_telling() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

} // namespace sessionq::faults
