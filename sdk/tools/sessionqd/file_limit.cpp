// SPDX-License-Identifier: MIT
#include "tools/sessionqd/file_limit.hpp"

#include <algorithm>

#include <sys/resource.h>

namespace sessionq::sessionqd {

std::size_t raise_file_limit(std::size_t wanted) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return wanted;
    }
    if (limit.rlim_cur < wanted) {
        const rlimit raised{.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max),
                            .rlim_max = limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            limit = raised;
        }
    }
    return limit.rlim_cur;
}

} // namespace sessionq::sessionqd
