// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include <sessionq/callback.hpp>
#include <sessionq/error.hpp>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::detail::processor {
struct HandlerFaults;
} // namespace sessionq::detail::processor

namespace sessionq::inline v1 {

/// Ends a handler that finishes later, see `BasicHandler::started_by`. It can be moved, not copied.
///
/// Example:
///
///     processor.on_message(
///         MessageHandler::started_by([](MessageContext& context, Completion completion) {
///             std::thread{[&context, completion = std::move(completion)] {
///                 try {
///                     std::cout << context.message().text() << '\n';
///                     completion.done(); // completes the message
///                 } catch (...) {
///                     completion.failed(std::current_exception());
///                 }
///             }}.detach();
///         }));
///
/// Only the first call of `done` or `failed` counts. A later call changes nothing, and so does a
/// call on an object that was moved from. If the object is destroyed, or replaced by an assignment,
/// before any call, the handler has failed. In each of these cases the log has an event
/// (`handler_misused`), and for a minute the health of the processor has a cause
/// (`HealthCause::handler_misused`).
///
/// `done`, `failed` and the destruction of an unused object return soon, and wait for no broker.
/// They may call `on_failure` of the processor, on their thread.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving, assigning and destroying.
class Completion {
public:
    /// Empty: it has no handler to end, and `done` and `failed` do nothing.
    Completion() = default;

    /// For tests of handlers. The first call of `done` or `failed` calls `end`, with a null pointer
    /// if the handler succeeded.
    explicit Completion(Callback<void(std::exception_ptr)> end);

    ~Completion() = default;
    /// Leaves `other` empty.
    Completion(Completion&& other) noexcept
        : state_{std::move(other.state_)}, faults_{other.faults_} {}
    Completion& operator=(Completion&& other) noexcept {
        state_ = std::move(other.state_);
        faults_ = other.faults_;
        return *this;
    }

    /// The handler succeeded. Do not use its message, batch or session afterwards.
    void done() const;

    /// The handler failed. Do not use its message, batch or session afterwards. The failure policy
    /// and `on_error` see an `Error` with this failure.
    void failed(Failure failure) const;

    /// The handler failed with `error`. If it is null, the handler failed for an unknown reason:
    /// `std::make_exception_ptr` returns null in a program without exceptions.
    void failed(std::exception_ptr error) const;

    /// Whether it can still end a handler: it is not empty and was not used.
    [[nodiscard]] explicit operator bool() const noexcept;

private:
    friend struct detail::client::Access;
    class State;

    Completion(Callback<void(std::exception_ptr)> end,
               std::shared_ptr<detail::processor::HandlerFaults> faults);

    void end(std::exception_ptr error) const;
    /// Another object that ends the same handler. The handler is dropped with the last of them.
    [[nodiscard]] Completion share() const;
    /// From now on a call has no effect. Returns false if a call has ended the handler already.
    [[nodiscard]] bool revoke() const noexcept;

    std::shared_ptr<State> state_{}; ///< null: empty
    std::shared_ptr<detail::processor::HandlerFaults>
        faults_{}; ///< stays when it is moved from, so that a wrong call is counted
};

} // namespace sessionq::inline v1
