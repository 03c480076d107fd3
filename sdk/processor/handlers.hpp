// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>

#include <sessionq/batch_handler.hpp>
#include <sessionq/batch_options.hpp>
#include <sessionq/failure_policy.hpp>
#include <sessionq/health.hpp>
#include <sessionq/message_context.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/session_context.hpp>

namespace sessionq::detail::processor {

/// The handlers that the application registered on a processor. Empty members are not called.
/// Exactly one of `message`, `start_message`, `messages` and `start_messages` is set.
struct Handlers {
    std::function<void(MessageContext&)> message{};

    /// Starts a handler that may finish later: a coroutine. Called on a worker.
    std::function<void(MessageContext&, HandlerDone)> start_message{};

    /// The same two for batches of one session's messages. Only a session processor sets them.
    std::function<void(std::span<MessageContext>)> messages{};
    std::function<void(std::span<MessageContext>, HandlerDone)> start_messages{};
    BatchOptions batch{.max_messages = 1}; ///< larger if a handler of batches is set

    std::function<void(SessionContext&)> session_open{};
    std::function<void(SessionContext&, CloseReason)> session_close{};
    std::function<FailurePolicy(const FailureContext&)> failure{};
    std::function<void(const ErrorContext&)> error{};
    std::function<void(const Health&)> health_changed{};

    void set(const MessageHandler& handler) {
        message = handler.function();
        start_message = handler.start();
        messages = nullptr;
        start_messages = nullptr;
        batch = {.max_messages = 1};
    }
    void set(const BatchHandler& handler, const BatchOptions& options) {
        message = nullptr;
        start_message = nullptr;
        messages = handler.function();
        start_messages = handler.start();
        batch = options;
    }

    /// Whether a handler keeps its worker while it waits. A coroutine does not.
    [[nodiscard]] bool keep_workers() const noexcept { return message || messages; }
    [[nodiscard]] bool take_batches() const noexcept { return messages || start_messages; }
    [[nodiscard]] bool take_messages() const noexcept {
        return message || start_message || take_batches();
    }
};

} // namespace sessionq::detail::processor
