// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <sessionq/batch_handler.hpp>
#include <sessionq/batch_options.hpp>
#include <sessionq/callback.hpp>
#include <sessionq/failure_policy.hpp>
#include <sessionq/health.hpp>
#include <sessionq/message_context.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/session_handler.hpp>

#include "core/access.hpp"

namespace sessionq::detail::processor {

/// The handlers that the application registered on a processor. Empty members are not called.
/// Exactly one of `message`, `start_message`, `messages` and `start_messages` is set. The `start_`
/// of a handler starts one that may finish later, such as a coroutine. Called on a worker.
struct Handlers {
    Callback<void(MessageContext&)> message{};
    Callback<void(MessageContext&, Completion)> start_message{};

    /// The same two for batches of one session's messages. Only a session processor sets them.
    Callback<void(std::span<MessageContext>)> messages{};
    Callback<void(std::span<MessageContext>, Completion)> start_messages{};
    BatchOptions batch{.max_messages = 1}; ///< larger if a handler of batches is set

    // At most one of the two is set.
    Callback<void(SessionContext&)> session_open{};
    Callback<void(SessionContext&, Completion)> start_session_open{};
    // And of these two.
    Callback<void(SessionContext&, CloseReason)> session_close{};
    Callback<void(SessionContext&, CloseReason, Completion)> start_session_close{};

    Callback<FailurePolicy(const FailureContext&)> failure{};
    Callback<void(const ErrorContext&)> error{};
    Callback<void(const Health&)> health_changed{};

    void set(const MessageHandler& handler) {
        message = client::Access::function(handler);
        start_message = client::Access::start(handler);
        messages = nullptr;
        start_messages = nullptr;
        batch = {.max_messages = 1};
    }
    void set(const BatchHandler& handler, const BatchOptions& options) {
        message = nullptr;
        start_message = nullptr;
        messages = client::Access::function(handler);
        start_messages = client::Access::start(handler);
        batch = options;
    }
    void set(const SessionOpenHandler& handler) {
        session_open = client::Access::function(handler);
        start_session_open = client::Access::start(handler);
    }
    void set(const SessionCloseHandler& handler) {
        session_close = client::Access::function(handler);
        start_session_close = client::Access::start(handler);
    }

    /// Whether a handler runs when a session opens.
    [[nodiscard]] bool has_open() const noexcept { return session_open || start_session_open; }
    /// Whether a handler runs when a session closes.
    [[nodiscard]] bool has_close() const noexcept { return session_close || start_session_close; }
    /// Whether a handler keeps its worker while it waits. A coroutine does not.
    [[nodiscard]] bool keep_workers() const noexcept { return message || messages; }
    [[nodiscard]] bool take_batches() const noexcept { return messages || start_messages; }
    [[nodiscard]] bool take_messages() const noexcept {
        return message || start_message || take_batches();
    }
};

} // namespace sessionq::detail::processor
