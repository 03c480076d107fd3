#pragma once

namespace sessionq {

/// Blocks until the process gets SIGINT or SIGTERM, and returns which (its number). What the
/// signals did before is restored on return, so that a second one ends a program that is slow to
/// stop. Several threads may wait; one signal ends all these waits.
///
/// Errors: resource_exhausted (the signals cannot be watched).
/// Thread safety: safe. Not from a handler: it would wait there with a worker.
int wait_for_signal();

} // namespace sessionq
