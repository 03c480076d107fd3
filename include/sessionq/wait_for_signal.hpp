// SPDX-License-Identifier: MIT
#pragma once

namespace sessionq {

/// Blocks until the process receives SIGINT or SIGTERM, and returns its number. On return it
/// restores the earlier signal handlers, so a second signal ends a program that stops slowly.
/// Several threads may wait. One signal ends all of these waits.
///
/// Do not call it in a handler, because it would block a worker.
///
/// Errors: resource_exhausted (the signals cannot be watched).
/// Thread safety: safe.
int wait_for_signal();

} // namespace sessionq
