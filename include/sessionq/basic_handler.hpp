// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <sessionq/handler_done.hpp>

namespace sessionq {

/// Handles `Work`: a function that returns nothing, or an operation that finishes later, such as a
/// coroutine (see `coroutine` in <sessionq/async.hpp>). Use it as `MessageHandler` or
/// `BatchHandler`.
///
/// Example: a handler that another thread finishes.
///
///     processor.on_message(
///         MessageHandler::started_by([](MessageContext& context, MessageHandler::Done done) {
///             std::thread{[&context, done = std::move(done)] {
///                 context.complete();
///                 done();
///             }}.detach();
///         }));
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read. Several workers call the function at once, for different work.
template <typename Work>
class BasicHandler {
public:
    /// Has handled the work when it returns.
    using Function = std::function<void(Work)>;

    /// Call it once, from any thread, when the handler has finished.
    using Done = HandlerDone;

    /// Starts to handle the work and returns. If it throws and `Done` was not called, the handler
    /// has failed, and `Done` ends nothing any more.
    using Start = std::function<void(Work, Done)>;

    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, BasicHandler> && std::invocable<F&, Work> &&
             std::is_void_v<std::invoke_result_t<F&, Work>>) BasicHandler(F function)
        : function_{std::move(function)} {
    } // NOLINT(google-explicit-constructor): a callable is a handler

    /// Makes a handler that finishes later. A worker calls `start`. The messages stay in flight
    /// until `Done` is called or destroyed.
    [[nodiscard]] static BasicHandler started_by(Start start) {
        BasicHandler made{Function{}};
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
