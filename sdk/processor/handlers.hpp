// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <functional>

#include <sessionq/failure_policy.hpp>
#include <sessionq/message_context.hpp>
#include <sessionq/processor_report.hpp>
#include <sessionq/session_context.hpp>

namespace sessionq::processor {

/// Told once when an asynchronous handler has ended, on whichever thread; null: it returned.
using HandlerDone = std::function<void(std::exception_ptr)>;

/// What the application registered; empty members are not called. Exactly one of `message` and
/// `start_message` is set.
struct Handlers {
    std::function<void(MessageContext&)> message{};

    /// Starts a handler that may finish later, a coroutine; called on a worker.
    std::function<void(MessageContext&, HandlerDone)> start_message{};

    std::function<void(SessionContext&)> session_open{};
    std::function<void(SessionContext&, CloseReason)> session_close{};
    std::function<FailurePolicy(const FailureContext&)> failure{};
    std::function<void(const ErrorContext&)> error{};
};

} // namespace sessionq::processor
