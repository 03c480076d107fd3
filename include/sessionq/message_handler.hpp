// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <sessionq/message_context.hpp>

namespace sessionq {

/// Handles messages: a function that returns nothing, or an operation that finishes later, such as
/// a coroutine (see `coroutine` in <sessionq/async.hpp>).
///
/// Example: a handler that another thread finishes.
///
///     processor.on_message(
///         MessageHandler::started_by([](MessageContext& context, MessageHandler::Done done) {
///             std::thread{[&context, done = std::move(done)] {
///                 context.complete();
///                 done(nullptr);
///             }}.detach();
///         }));
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read. Several workers call the function at once.
class MessageHandler {
public:
    /// Has handled the message when it returns.
    using Function = std::function<void(MessageContext&)>;

    /// Call it once, from any thread, when the handler has finished. Null: the handler succeeded.
    /// Otherwise: its exception. The `MessageContext` is invalid afterwards.
    using Done = std::function<void(std::exception_ptr)>;

    /// Starts to handle a message and returns. If it throws, the handler has failed, and `Done`
    /// must not be called.
    using Start = std::function<void(MessageContext&, Done)>;

    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, MessageHandler> &&
             std::invocable<F&, MessageContext&> &&
             std::is_void_v<std::invoke_result_t<F&, MessageContext&>>) MessageHandler(F function)
        : function_{std::move(function)} {
    } // NOLINT(google-explicit-constructor): a callable is a handler

    /// Makes a handler that finishes later. A worker calls `start`. The message stays in flight
    /// until `Done` is called.
    [[nodiscard]] static MessageHandler started_by(Start start) {
        MessageHandler made{Function{}};
        made.start_ = std::move(start);
        return made;
    }

    [[nodiscard]] const Function& function() const noexcept { return function_; }
    [[nodiscard]] const Start& start() const noexcept { return start_; }

private:
    Function function_{};
    Start start_{};
};

} // namespace sessionq
