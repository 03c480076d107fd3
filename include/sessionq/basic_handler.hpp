// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <sessionq/callback.hpp>
#include <sessionq/completion.hpp>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// A function of the application that a processor calls. Use it as one of the four kinds:
/// `MessageHandler`, `BatchHandler`, `SessionOpenHandler` and `SessionCloseHandler`. `Args` are the
/// arguments of the function. The handler finishes when the function returns, or later, as a
/// coroutine does (see `coroutine` in <sessionq/async.hpp>).
///
/// Example: a handler that another thread finishes.
///
///     processor.on_message(
///         MessageHandler::started_by([](MessageContext& context, Completion completion) {
///             std::thread{[&context, completion = std::move(completion)] {
///                 context.complete();
///                 completion.done();
///             }}.detach();
///         }));
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read. Several workers call the function at once, for different work.
template <typename... Args>
class BasicHandler {
public:
    /// Empty: as if no handler was set.
    BasicHandler() = default;

    /// Makes a handler from a function that takes the arguments and returns nothing. The function
    /// need not be copyable.
    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, BasicHandler>)
        // NOLINTNEXTLINE(google-explicit-constructor): a callable is a handler
        BasicHandler(F function) {
        static_assert(
            std::invocable<F&, Args...>,
            "a handler of messages takes a MessageContext&, one of batches a "
            "std::span<MessageContext>, one of opened sessions a SessionContext&, and one "
            "of closed sessions a SessionContext& and a CloseReason; one that finishes "
            "later is made by started_by(...)");
        if constexpr (std::invocable<F&, Args...>) {
            static_assert(std::is_void_v<std::invoke_result_t<F&, Args...>>,
                          "a handler returns nothing; a coroutine becomes a handler by "
                          "sessionq::coroutine(...) of <sessionq/async.hpp>");
            function_ = std::move(function);
        }
    }

    /// Makes a handler that finishes later. A worker calls `start` with the arguments of the
    /// handler and a `Completion`, and is free when it returns. What the handler works on stays in
    /// flight until the `Completion` is used or destroyed. If `start` throws before that, the
    /// handler has failed with the exception, and the `Completion` has no effect any more. `start`
    /// need not be copyable.
    template <typename F>
    [[nodiscard]] static BasicHandler started_by(F start) {
        static_assert(std::invocable<F&, Args..., Completion>,
                      "the start of a handler takes the arguments of the handler and a Completion "
                      "by value");
        BasicHandler made;
        if constexpr (std::invocable<F&, Args..., Completion>) {
            static_assert(std::is_void_v<std::invoke_result_t<F&, Args..., Completion>>,
                          "the start of a handler returns nothing; a coroutine becomes a handler "
                          "by sessionq::coroutine(...) of <sessionq/async.hpp>");
            made.start_ = std::move(start);
        }
        return made;
    }

private:
    friend struct detail::client::Access;

    Callback<void(Args...)> function_{};          ///< empty if `started_by` made the handler
    Callback<void(Args..., Completion)> start_{}; ///< empty unless `started_by` made the handler
};

} // namespace sessionq::inline v1
