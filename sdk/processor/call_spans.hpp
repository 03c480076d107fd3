// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/tracing.hpp"
#include "ports/delivery.hpp"

namespace sessionq::processor {

class MessageCall;
class SessionView;

/// The spans of one message that a handler had, or that is settled. It exists with a tracer only.
class CallSpans {
public:
    /// `handler`: the context of the span of its handler; null: there is no such span.
    explicit CallSpans(const TraceContext* handler)
        : handler_{handler == nullptr ? std::nullopt : std::optional{*handler}} {}

    /// A handler starts, on its worker.
    [[nodiscard]] static std::unique_ptr<CallSpans> handling(const SessionView& session,
                                                             const ReceivedMessage& message);
    /// The same for several messages, whose spans there are then.
    [[nodiscard]] static core::OpenSpan handling(const SessionView& session,
                                                 std::span<MessageCall* const> batch);
    /// It has ended. Null: without an error.
    void handled(const std::string* error) noexcept;

    /// The message is settled, on the loop. `spans` may be null, and gets the span.
    static void settling(std::unique_ptr<CallSpans>& spans, const SessionView& session,
                         const ReceivedMessage& message, ports::Outcome outcome);
    /// The broker has answered. Null: without an error.
    void settled(const Failure* failure) noexcept { settle_.end(failure); }

    /// What the handler runs under. Null: as without a tracer.
    [[nodiscard]] const TraceContext* handler() const noexcept {
        return handler_ ? &*handler_ : nullptr;
    }

private:
    std::optional<TraceContext> handler_;
    core::OpenSpan process_{};
    core::OpenSpan settle_{};
};

/// The session was accepted, which was asked for at that time.
void trace_accept(const SessionView& session, TimePoint asked_at);

/// The error of a span whose handler threw.
inline constexpr std::string_view handler_error = "handler_failed";

} // namespace sessionq::processor
