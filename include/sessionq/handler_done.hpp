// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::detail::processor {
struct HandlerFaults;
} // namespace sessionq::detail::processor

namespace sessionq::inline v1 {

/// Ends a handler that finishes later, see `BasicHandler::started_by`. Call it once.
///
/// Example:
///
///     processor.on_message(
///         MessageHandler::started_by([](MessageContext& context, MessageHandler::Done done) {
///             std::thread{[&context, done = std::move(done)] {
///                 try {
///                     std::cout << context.message().text() << '\n';
///                     done(); // completes the message
///                 } catch (...) {
///                     done(std::current_exception());
///                 }
///             }}.detach();
///         }));
///
/// Copies end the same handler. Only the first call counts. A later call changes nothing. If the
/// last copy is destroyed before any call, the handler has failed. In both cases the log has an
/// event (`handler_misused`), and for a minute the health of the processor has a cause
/// (`HealthCause::handler_misused`).
///
/// Thread safety: safe, also a shared object.
class HandlerDone {
public:
    /// Empty: it ends nothing. Do not call it.
    HandlerDone() = default;

    /// For tests of handlers. The first call calls `end`, with a null pointer if the handler
    /// succeeded.
    explicit HandlerDone(std::function<void(std::exception_ptr)> end);

    /// The handler succeeded. Do not use its message or batch afterwards.
    void operator()() const;
    void operator()(std::nullptr_t) const { (*this)(); }

    /// The handler failed with `error`. Do not use its message or batch afterwards. If `error` is
    /// null, the handler failed for an unknown reason: `std::make_exception_ptr` returns null in a
    /// program without exceptions.
    void operator()(std::exception_ptr error) const;

    /// Whether it is not empty.
    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

private:
    friend struct detail::client::Access;
    class State;

    HandlerDone(std::function<void(std::exception_ptr)> end,
                std::shared_ptr<detail::processor::HandlerFaults> faults);
    /// From now on a call has no effect. Returns false if a call has ended the handler already.
    [[nodiscard]] bool revoke() const noexcept;

    std::shared_ptr<State> state_{};
};

} // namespace sessionq::inline v1
