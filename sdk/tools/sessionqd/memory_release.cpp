// SPDX-License-Identifier: MIT
#include "tools/sessionqd/memory_release.hpp"

#include <cstddef>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace sessionq::sessionqd {

#ifdef __GLIBC__

void prefer_release() noexcept {
    constexpr int large = 1 << 20;
    mallopt(M_MMAP_THRESHOLD, large); // else a freed large block raises the threshold to its size
    mallopt(M_TRIM_THRESHOLD, 4 * large);
}

void release_freed_memory() noexcept {
    constexpr std::size_t much = std::size_t{8} << 20U;
    if (mallinfo2().fordblks > much) {
        malloc_trim(0);
    }
}

#else

void prefer_release() noexcept {}
void release_freed_memory() noexcept {}

#endif

} // namespace sessionq::sessionqd
