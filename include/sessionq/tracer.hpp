// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <sessionq/time.hpp>
#include <sessionq/trace_context.hpp>

namespace sessionq::inline v1 {

/// The role of a span, as OpenTelemetry defines it.
enum class SpanKind : std::uint8_t {
    internal, ///< Work inside the process. sessionq starts no such span.
    producer, ///< Makes or sends a message whose context is this span.
    client,   ///< A request to the broker.
    consumer, ///< Handles messages.
};

/// For example "producer".
[[nodiscard]] std::string_view to_string(SpanKind kind) noexcept;

/// Writes `to_string(kind)`.
std::ostream& operator<<(std::ostream& out, SpanKind kind);

/// The value of a span's attribute.
using SpanValue = std::variant<bool, std::int64_t, double, std::string>;

/// A fact about a span. `name` refers to a constant of the program.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct SpanAttribute {
    std::string_view name{};
    SpanValue value{};

    friend bool operator==(const SpanAttribute&, const SpanAttribute&) = default;
};

/// How a span begins. All that it refers to is valid during the call only.
struct SpanStart {
    std::string_view name{};
    SpanKind kind{SpanKind::internal};

    /// Null: the span begins a trace.
    const TraceContext* parent{nullptr};

    /// Spans that led to this one, for example those of the messages in a batch.
    std::span<const TraceContext> links{};

    std::span<const SpanAttribute> attributes{};

    /// When the span began, on the monotonic clock and on the wall clock. It may be earlier than
    /// the call: the span of an accept is started once there is a session.
    TimePoint start{};
    WallTime wall_start{};
};

/// How a span ends. All that it refers to is valid during the call only.
struct SpanEnd {
    TimePoint end{}; ///< On the monotonic clock.

    /// The name of the cause, for example "lock_lost" (`to_string(Errc)`). Empty: no error.
    std::string_view error_type{};

    /// For people. May be empty.
    std::string_view error_text{};
};

/// A span that has started. sessionq ends each one once and then destroys it. It calls a span from
/// several threads, but never from two at once.
///
/// Example: a span without attributes of its own.
///
///     class PrintedSpan final : public Span {
///     public:
///         explicit PrintedSpan(const SpanStart& start)
///             : name_{start.name}, context_{start.parent ? *start.parent : TraceContext{}} {}
///         const TraceContext& context() const noexcept override { return context_; }
///         void set_attribute(const SpanAttribute&) override {}
///         void end(const SpanEnd&) override { std::cout << name_ << " ended\n"; }
///
///     private:
///         std::string name_;
///         TraceContext context_;
///     };
///
/// Thread safety: a span need not be safe to share.
class Span {
public:
    virtual ~Span() = default;

    /// The context that travels on: in the message that was sent, or in the ambient context of a
    /// handler. It must not change. One that is invalid by the W3C's rules does not travel.
    [[nodiscard]] virtual const TraceContext& context() const noexcept = 0;

    /// A fact that was not known at the start. It replaces one of the same name.
    virtual void set_attribute(const SpanAttribute& attribute) = 0;

    /// Called on a worker before it calls a handler or resumes a coroutine handler, for tracing
    /// libraries that have a current span of each thread. When the handler returns or suspends,
    /// sessionq destroys the result on the same thread, which may be after the end of the span.
    /// Null, the default: there is nothing to do.
    [[nodiscard]] virtual std::shared_ptr<void> enter() { return nullptr; }

    /// The span ends. Called once.
    virtual void end(const SpanEnd& how) = 0;
};

/// Makes the spans of a client: `ClientOptions::tracer`. It also makes their ids, and decides which
/// spans are kept.
///
/// Names, kinds and attributes follow OpenTelemetry's conventions for messaging:
///
/// - `send ENTITY` or `schedule ENTITY`, producer: from the call to the broker's answer. Its parent
///   is the ambient context. Of kind client if each message has a context already.
/// - `create ENTITY`, producer: one for each message of a send of several. Its parent is
///   the ambient context. It takes no time, because the message is there already. The request is
///   a span of its own.
/// - `receive ENTITY`, client: from the accept until the session came. A processor's begins a
///   trace. Also from the call of a receiver until messages came, which it links to. A request
///   that gets nothing is no span.
/// - `process ENTITY`, consumer: from the start of a handler to its end, once for each try. Its
///   parent is the message's context.
/// - `settle ENTITY`, client: from the request to the broker's answer. Its parent is the last
///   `process` span, of a receiver's message the ambient context, or else the message's context.
///
/// A message carries the context of its `create` span, or else of its `send` span, unless it
/// carries one already. Then the `send` span links to it. A `process` span also links to its
/// message. For a batch it has no parent and links to every message. The handler's ambient
/// `OperationContext` has the context of its `process` span, so the messages that it sends belong
/// to that span. A message that goes back and was never handled has no `settle` span. Nor have the
/// deferred messages that a handler asks for. `redrive` makes no spans.
///
/// Attributes:
/// - of all: `messaging.system` (`servicebus`, `activemq`, `qpid`; `sessionq` in process),
///   `messaging.operation.name`, `messaging.operation.type`, `messaging.destination.name`, and
///   where they apply `messaging.client.id` (`ClientOptions::client_id`),
///   `messaging.destination.subscription.name`, `server.address`, `server.port` and
///   `sessionq.session.id` (`error.type` is `SpanEnd::error_type`),
/// - of one message: `messaging.message.id`, `messaging.message.conversation_id`,
///   `messaging.servicebus.message.delivery_count`, which counts this delivery (on all brokers),
/// - of several: `messaging.batch.message_count`,
/// - of `settle`: `messaging.servicebus.disposition_status` (`complete`, `abandon`, `release`,
///   `defer`, `dead_letter`; on all brokers).
///
/// Cost: none without a tracer. With one, each span costs some allocations and the tracer's own
/// work.
///
/// Errors: a tracer or span that throws is ignored, and the log has a line. The work goes on.
///
/// Lifetimes: the client keeps its tracer. Spans may live a little longer than the client, and keep
/// the tracer too.
///
/// Example: a tracer that prints each span that starts, and keeps none. `samples/12_traces.cpp` has
/// one that keeps them.
///
///     class PrintingTracer final : public Tracer {
///     public:
///         std::unique_ptr<Span> start_span(const SpanStart& start) override {
///             std::cout << start.name << '\n';
///             return nullptr;
///         }
///     };
///     const Client traced = Client::connect(std::getenv("SESSIONQ_CONNECTION"),
///                                           {.tracer = std::make_shared<PrintingTracer>()});
///
/// Thread safety: must be safe from any thread. Spans start and end on the threads of callers and
/// workers, and on receive threads. So it must be quick, must not wait, and must not call sessionq.
class Tracer {
public:
    virtual ~Tracer() = default;

    /// Null: there is no span, and the context of its parent travels on.
    [[nodiscard]] virtual std::unique_ptr<Span> start_span(const SpanStart& start) = 0;
};

} // namespace sessionq::inline v1
