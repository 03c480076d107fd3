#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <sessionq/message_context.hpp>

namespace sessionq {

/// What handles a message: a function that returns nothing, or something started that finishes later, such as a coroutine (see `coroutine` in
/// <sessionq/async.hpp>).
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read. What it calls runs on several workers at once.
class MessageHandler {
public:
    using Function = std::function<void(MessageContext&)>;
    /// Told once that the handler has ended, on any thread; null: it returned.
    using Done = std::function<void(std::exception_ptr)>;
    using Start = std::function<void(MessageContext&, Done)>;

    template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, MessageHandler> && std::invocable<F&, MessageContext&> &&
             std::is_void_v<std::invoke_result_t<F&, MessageContext&>>) MessageHandler(F function)
        : function_{std::move(function)} {} // NOLINT(google-explicit-constructor): a callable is a handler

    /// `start` is called on a worker; the message stays in flight until it calls `Done`.
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
