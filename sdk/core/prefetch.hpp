// SPDX-License-Identifier: MIT
#pragma once

namespace sessionq::core {

/// The processor begins to load the memory there. No effect but on time; `at` may be anything.
inline void prefetch(const void* at) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(at);
#else
    static_cast<void>(at);
#endif
}

} // namespace sessionq::core
