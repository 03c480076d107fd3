// SPDX-License-Identifier: MIT
#include "tools/sessionqd/memory_release.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace sessionq::sessionqd {

#ifdef __GLIBC__

void tune_allocator(std::size_t receive_threads) noexcept {
    constexpr int large = 1 << 20;
    mallopt(M_MMAP_THRESHOLD, large); // else a freed large block raises the threshold to its size
    mallopt(M_TRIM_THRESHOLD, 4 * large);
    mallopt(M_TOP_PAD, large);
    if (receive_threads == 1) {
        // The first arena grows in large steps, all others page by page with a system call each.
        mallopt(M_ARENA_MAX, 1);
    }
}

void release_freed_memory() noexcept {
    constexpr std::size_t much = std::size_t{8} << 20U;
    if (mallinfo2().fordblks > much) {
        malloc_trim(0);
    }
}

#else

void tune_allocator(std::size_t) noexcept {}
void release_freed_memory() noexcept {}

#endif

} // namespace sessionq::sessionqd
