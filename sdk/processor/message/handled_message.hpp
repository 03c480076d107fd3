// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stop_token>

#include <sessionq/error.hpp>
#include <sessionq/operation_context.hpp>

#include "core/message_spans.hpp"
#include "ports/delivery.hpp"
#include "processor/session/handled_session.hpp"

namespace sessionq::detail::processor {

/// The message that a handler works with through its `MessageContext`. In a processor it is a
/// `MessageCall`, and in an application's test a `TestMessage`. Reading the message needs no
/// virtual call. Any thread.
class HandledMessage : public ports::Delivery {
public:
    /// Decides the outcome, once (R8). Throws already_settled, lock_lost or not_supported.
    virtual void settle(ports::Settlement settlement) = 0;
    [[nodiscard]] virtual bool decided() const noexcept = 0;
    /// The handler says that it has failed. The first failure counts.
    virtual void fail(Failure failure) noexcept = 0;

    [[nodiscard]] virtual HandledSession& session() const noexcept = 0;
    [[nodiscard]] virtual std::uint32_t attempt() const noexcept = 0;
    [[nodiscard]] virtual std::stop_token stop_token() const noexcept = 0;
    /// Returns the operation context of the handler. Its trace is the trace of the handler's span,
    /// not the trace of the message.
    [[nodiscard]] virtual OperationContext operation_context() const = 0;

    core::MessageSpansPtr spans{}; ///< set for a message of a processor
};

} // namespace sessionq::detail::processor
