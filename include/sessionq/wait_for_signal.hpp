// SPDX-License-Identifier: MIT
#pragma once

namespace sessionq::inline v1 {

/// Watches for SIGINT and SIGTERM from its construction on, so that one that comes while a program
/// still starts is not missed.
///
/// Example:
///
///     SessionProcessor orders{client, "orders"};
///     orders.on_message([](MessageContext& context) {
///         std::cout << context.message().text() << '\n';
///     });
///     SignalWatch signals;
///     orders.start();
///     signals.wait();
///     const StopReport report = orders.stop(std::chrono::seconds{10});
///
/// While there is one, neither signal ends the process. The end of the last one restores the
/// earlier signal handlers. One signal ends the waits of all, also of a watch that is made before
/// the last of them has ended.
///
/// Thread safety: distinct objects are safe, a shared one is not.
class SignalWatch {
public:
    /// Errors: resource_exhausted (the signals cannot be watched).
    SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;
    ~SignalWatch();

    /// Blocks until one of the signals comes, and returns its number. Returns at once if one has
    /// come since the construction. The watch then ends, so a second signal ends a program that
    /// stops slowly. Do not call it in a handler, because it would block a worker.
    ///
    /// Errors: invalid_state (the watch has ended).
    int wait();

private:
    bool is_over_{false};
};

/// Blocks until the process receives SIGINT or SIGTERM, and returns its number. A signal that comes
/// before the call ends the process: see `SignalWatch`. On return it restores the earlier signal
/// handlers, so a second signal ends a program that stops slowly. Several threads may wait. One
/// signal ends all of these waits.
///
/// Do not call it in a handler, because it would block a worker.
///
/// Errors: resource_exhausted (the signals cannot be watched).
/// Thread safety: safe.
int wait_for_signal();

} // namespace sessionq::inline v1
