// SPDX-License-Identifier: MIT
#pragma once

namespace sessionq::sessionqd {

/// Has the allocator give large blocks back to the system when they are freed. Call it before other
/// threads start.
void prefer_release() noexcept;

/// Gives freed memory back to the system if the allocator keeps much of it, as after a rush.
void release_freed_memory() noexcept;

} // namespace sessionq::sessionqd
