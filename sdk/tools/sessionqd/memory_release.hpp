// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace sessionq::sessionqd {

/// Has the allocator take memory from the system in large steps, and give large blocks back when
/// they are freed. Call it before other threads start. Several receive threads do not share an
/// arena, because each would wait for the others.
void tune_allocator(std::size_t receive_threads) noexcept;

/// Gives freed memory back to the system if the allocator keeps much of it, as after a rush.
void release_freed_memory() noexcept;

} // namespace sessionq::sessionqd
