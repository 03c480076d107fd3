// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <sessionq/message_context.hpp>

namespace sessionq {

/// Handles batches of messages: a function that returns nothing, or an operation that finishes
/// later, such as a coroutine (see `coroutine` in <sessionq/async.hpp>). The messages of a batch
/// are of one session and in order. There is at least one.
///
/// Example:
///
///     processor.on_messages([](std::span<MessageContext> batch) {
///         for (MessageContext& context : batch) {
///             std::cout << context.message().text() << '\n';
///             context.complete(); // if a later one throws, this one is done
///         }
///     });
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read. Several workers call the function at once, for different sessions.
class BatchHandler {
public:
    /// Has handled the messages when it returns.
    using Function = std::function<void(std::span<MessageContext>)>;

    /// Call it once, from any thread, when the handler has finished. Null: the handler succeeded.
    /// Otherwise: its exception. The span and its contexts are invalid afterwards.
    using Done = std::function<void(std::exception_ptr)>;

    /// Starts to handle a batch and returns. If it throws, the handler has failed, and `Done` must
    /// not be called.
    using Start = std::function<void(std::span<MessageContext>, Done)>;

    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, BatchHandler> &&
             std::invocable<F&, std::span<MessageContext>> &&
             std::is_void_v<std::invoke_result_t<F&, std::span<MessageContext>>>)
        BatchHandler(F function)
        : function_{std::move(function)} {
    } // NOLINT(google-explicit-constructor): a callable is a handler

    /// Makes a handler that finishes later. A worker calls `start`. The messages stay in flight
    /// until `Done` is called.
    [[nodiscard]] static BatchHandler started_by(Start start) {
        BatchHandler made{Function{}};
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
