// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <sessionq/handler_done.hpp>

namespace sessionq::inline v1 {

/// A function of the application that handles messages. Use it as `MessageHandler` (`Work` is one
/// message) or as `BatchHandler` (`Work` is a batch). The handler finishes when the function
/// returns, or later, as a coroutine does (see `coroutine` in <sessionq/async.hpp>).
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
    /// The form of a handler that finishes when it returns.
    using Function = std::function<void(Work)>;

    /// Call it once, from any thread, when the handler has finished.
    using Done = HandlerDone;

    /// The form of a handler that finishes later: it starts the work and returns. If it throws
    /// before it calls `Done`, the handler has failed, and `Done` has no effect any more.
    using Start = std::function<void(Work, Done)>;

    /// Makes a handler from a function that takes the work and returns nothing. The function need
    /// not be copyable.
    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, BasicHandler>)
        // NOLINTNEXTLINE(google-explicit-constructor): a callable is a handler
        BasicHandler(F function) {
        static_assert(std::invocable<F&, Work>,
                      "a handler takes a MessageContext&, a batch handler takes a "
                      "std::span<MessageContext>");
        if constexpr (std::invocable<F&, Work>) {
            static_assert(std::is_void_v<std::invoke_result_t<F&, Work>>,
                          "a handler returns nothing; a coroutine becomes a handler by "
                          "sessionq::coroutine(...) of <sessionq/async.hpp>");
            function_ = copyable(std::move(function));
        }
    }

    /// Makes a handler that finishes later. A worker calls `start(work, done)`. The messages stay
    /// in flight until `Done` is called or destroyed.
    template <typename F>
    [[nodiscard]] static BasicHandler started_by(F start) {
        static_assert(std::invocable<F&, Work, Done>,
                      "it takes the argument of a handler, and BasicHandler::Done");
        BasicHandler made;
        made.start_ = copyable(std::move(start));
        return made;
    }

    /// Empty if `started_by` made the handler.
    [[nodiscard]] const Function& function() const noexcept { return function_; }
    /// Empty unless `started_by` made the handler.
    [[nodiscard]] const Start& start() const noexcept { return start_; }

private:
    BasicHandler() = default;

    /// A function that cannot be copied is shared by the copies of the handler.
    template <typename F>
    [[nodiscard]] static auto copyable(F function) {
        if constexpr (std::copy_constructible<F>) {
            return function;
        } else {
            return [shared = std::make_shared<F>(std::move(function))](auto&&... arguments) {
                (*shared)(std::forward<decltype(arguments)>(arguments)...);
            };
        }
    }

    Function function_{};
    Start start_{};
};

} // namespace sessionq::inline v1
