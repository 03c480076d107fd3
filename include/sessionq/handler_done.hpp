// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace sessionq {

namespace client {
struct Access;
}
namespace processor {
struct HandlerFaults;
}

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
/// Copies end the same handler. The first call counts. A later one changes nothing. If the last
/// copy is destroyed and none was called, the handler has failed. The log tells of both
/// (`handler_misused`), and so does the health of the processor for a minute
/// (`HealthCause::handler_misused`).
///
/// Thread safety: safe, also a shared object.
class HandlerDone {
public:
    /// Empty: it ends nothing. Do not call it.
    HandlerDone() = default;

    /// For tests of handlers: the first call calls `end`, with null if the handler succeeded.
    explicit HandlerDone(std::function<void(std::exception_ptr)> end);

    /// The handler succeeded. The work is invalid afterwards.
    void operator()() const;
    void operator()(std::nullptr_t) const { (*this)(); }

    /// The handler failed with `error`. The work is invalid afterwards. Null: it failed, too, for
    /// an unknown reason. Without exceptions `std::make_exception_ptr` returns null.
    void operator()(std::exception_ptr error) const;

    /// Whether it is not empty.
    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

private:
    friend struct client::Access;
    class State;

    HandlerDone(std::function<void(std::exception_ptr)> end,
                std::shared_ptr<processor::HandlerFaults> faults);
    /// Makes it end nothing. False: it has ended the handler already.
    [[nodiscard]] bool revoke() const noexcept;

    std::shared_ptr<State> state_{};
};

} // namespace sessionq
