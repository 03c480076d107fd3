#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <sessionq/message_context.hpp>

namespace sessionq {

/// What handles a message: a function that returns nothing, or something started that finishes
/// later, such as a coroutine (see `coroutine` in <sessionq/async.hpp>).
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read. What it calls runs on several workers at once.
class MessageHandler {
public:
    /// Handles a message by the time it returns.
    using Function = std::function<void(MessageContext&)>;

    /// To be called once, from any thread, when the handler has ended; null: it returned, else it
    /// threw this. The `MessageContext` is gone after it.
    using Done = std::function<void(std::exception_ptr)>;

    /// Starts to handle a message and returns. If it throws, the handler has failed and `Done` must
    /// not be called.
    using Start = std::function<void(MessageContext&, Done)>;

    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, MessageHandler> &&
             std::invocable<F&, MessageContext&> &&
             std::is_void_v<std::invoke_result_t<F&, MessageContext&>>) MessageHandler(F function)
        : function_{std::move(function)} {
    } // NOLINT(google-explicit-constructor): a callable is a handler

    /// A handler that goes on after it was started. `start` is called on a worker; the message
    /// stays in flight until `Done` is called.
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
