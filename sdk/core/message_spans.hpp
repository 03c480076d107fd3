// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/operation_context.hpp>

#include "core/tracing.hpp"

namespace sessionq::core {

class MessageSpans;
using MessageSpansPtr = std::unique_ptr<MessageSpans>; ///< Null: no tracer, or nothing to tell yet.

/// How a message is settled.
struct SpanOutcome {
    std::string_view name{};
    bool goes_back{false}; ///< as it came, if no handler had it
};

/// The spans of a received message. It exists with a tracer only; without one each function is a
/// branch. `tracing` and `spans` may be null.
class MessageSpans {
public:
    /// A handler starts, on its worker.
    [[nodiscard]] static MessageSpansPtr handling(const TracingPtr& tracing, const SpanPlace& place,
                                                  const ReceivedMessage& message) {
        return tracing == nullptr ? nullptr : begin(*tracing, place, message);
    }
    /// The same for a batch, whose span it returns. Each call has a `message`, and `spans`.
    template <typename Calls>
    [[nodiscard]] static OpenSpan handling_batch(const TracingPtr& tracing, const SpanPlace& place,
                                                 const Calls& calls);
    /// Around the call of the handler, see `Span::enter`.
    [[nodiscard]] static std::shared_ptr<void> enter(const MessageSpansPtr& spans) noexcept {
        return spans == nullptr ? nullptr : spans->process_.enter();
    }
    /// The same for a coroutine.
    [[nodiscard]] static SpanHandle handler_span(const MessageSpansPtr& spans) noexcept {
        return spans == nullptr ? SpanHandle{} : spans->handler_span_;
    }
    /// The handler has ended. `error` may be null: it succeeded.
    static void handled(const MessageSpansPtr& spans, const std::string* error) noexcept {
        if (spans != nullptr) {
            end_handling(spans->process_, error);
        }
    }
    static void end_handling(OpenSpan& span, const std::string* error) noexcept {
        span.end(error == nullptr ? std::string_view{} : to_string(Errc::handler_failed),
                 error == nullptr ? std::string_view{} : *error);
    }

    /// The message is settled, on its loop. Makes `spans` if nothing did.
    static void settling(MessageSpansPtr& spans, const TracingPtr& tracing, const SpanPlace& place,
                         const ReceivedMessage& message, const SpanOutcome& outcome) {
        if (tracing != nullptr) {
            begin_settling(spans, *tracing, place, message, outcome);
        }
    }
    /// The broker has answered. `failure` may be null.
    static void settled(const MessageSpansPtr& spans, const Failure* failure) noexcept {
        if (spans != nullptr) {
            spans->settle_.end(failure);
        }
    }

    /// `context` with the context of the handler's span, if there is one.
    [[nodiscard]] static OperationContext under(const MessageSpansPtr& spans,
                                                OperationContext context) {
        if (spans == nullptr || !spans->handler_) {
            return context; // moved, not copied
        }
        return context.with_trace(*spans->handler_);
    }

private:
    /// `handler`: the span of its handler, or none.
    explicit MessageSpans(const OpenSpan& handler);

    [[nodiscard]] static MessageSpansPtr begin(const Tracing& tracing, const SpanPlace& place,
                                               const ReceivedMessage& message);
    static void begin_settling(MessageSpansPtr& spans, const Tracing& tracing,
                               const SpanPlace& place, const ReceivedMessage& message,
                               const SpanOutcome& outcome);

    std::optional<TraceContext> handler_; ///< of the last span of a handler
    SpanHandle handler_span_;
    OpenSpan process_{};
    OpenSpan settle_{};
};

/// `context` with that of the span, if there is one.
[[nodiscard]] inline OperationContext under_span(const OpenSpan& span, OperationContext context) {
    if (!span.is_open()) {
        return context;
    }
    return context.with_trace(*span.context());
}

/// A session that was asked for at that time has come.
inline void trace_accept(const TracingPtr& tracing, const SpanPlace& place, TimePoint asked_at) {
    if (tracing != nullptr) {
        tracing->start_at(asked_at, [&](const SpanPlan& plan) { return plan.receive(place); })
            .end();
    }
}

template <typename Calls>
OpenSpan MessageSpans::handling_batch(const TracingPtr& tracing, const SpanPlace& place,
                                      const Calls& calls) {
    if (tracing == nullptr) {
        return {};
    }
    OpenSpan span = tracing->start([&](const SpanPlan& plan) {
        std::vector<const ReceivedMessage*> messages;
        messages.reserve(calls.size());
        for (const auto* each : calls) {
            messages.push_back(&each->message);
        }
        return plan.process(place, messages);
    });
    for (auto* each : calls) {
        each->spans = MessageSpansPtr{new MessageSpans{span}};
    }
    return span;
}

} // namespace sessionq::core
