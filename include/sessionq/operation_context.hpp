#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <sessionq/deadline.hpp>

namespace sessionq {

/// A trace context: the two headers that W3C's Trace Context defines. sessionq carries them and
/// neither reads nor checks them.
struct TraceContext {
    std::string traceparent{};
    std::string tracestate{};

    friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

/// A deadline, a stop token and a trace context that an operation shares with all it calls.
///
/// Example:
///
///     const auto now = std::chrono::steady_clock::now();
///     const OperationContext request{Deadline::after(std::chrono::seconds{2}, now)};
///     const OperationContext::Scope scope{request};
///     sender.send(Message::text("ada", "placed")); // within two seconds
///     sender.send(Message::text("ada", "paid"));   // within what is left of them
///
/// Every function of sessionq that waits takes a context as its last argument. The default is the
/// ambient context, `current()`: that of the task on this thread. A handler runs under a context
/// whose deadline is the end of its lock, so a sessionq function called in a handler inherits the
/// time left. A task carries the context of its submitter. It is restored before the task runs and
/// cleared after.
///
/// An operation ends with `timeout` at the deadline, and with `cancelled` when the stop token
/// fires. It does not start if the deadline has passed. Without a deadline,
/// `ClientOptions::operation_timeout` applies.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class OperationContext {
public:
    OperationContext() = default;
    explicit OperationContext(Deadline deadline, std::stop_token stop = {})
        : deadline_{deadline}, stop_{std::move(stop)} {}

    [[nodiscard]] Deadline deadline() const noexcept { return deadline_; }
    [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
    /// Null: no trace. Valid as long as this context or a copy.
    [[nodiscard]] const TraceContext* trace() const noexcept { return trace_.get(); }

    /// A copy with the sooner of both deadlines. A deadline never extends the one in scope.
    [[nodiscard]] OperationContext with_deadline(Deadline deadline) const;
    /// A copy with `stop` instead of its stop token.
    [[nodiscard]] OperationContext with_stop(std::stop_token stop) const;
    /// A copy with `trace` instead of its trace context.
    [[nodiscard]] OperationContext with_trace(TraceContext trace) const;

    /// The deadline of an operation: the one in scope, or `configured` after `now` if none is in
    /// scope.
    [[nodiscard]] Deadline effective(Duration configured, TimePoint now) const noexcept {
        return deadline_.is_never() ? Deadline::after(configured, now) : deadline_;
    }

    /// Whether it has no deadline, no trace, and a token that never fires. Periodic work starts
    /// with such a context.
    [[nodiscard]] bool is_clean() const noexcept {
        return deadline_.is_never() && !stop_.stop_possible() && !trace_;
    }

    /// The ambient context of this thread. Clean outside any scope. Valid until the scope ends:
    /// copy it to keep it.
    [[nodiscard]] static const OperationContext& current() noexcept;

    class Scope;

private:
    Deadline deadline_{};
    std::stop_token stop_{};
    std::shared_ptr<const TraceContext> trace_{};
};

/// Makes a context ambient on this thread for a scope, and restores the earlier one at its end.
/// Scopes nest. End them in reverse order.
///
/// Example:
///
///     std::stop_source user_left;
///     const OperationContext::Scope scope{
///         OperationContext::current().with_stop(user_left.get_token())};
///     sender.send(Message::text("ada", "placed")); // cancelled when user_left fires
///
/// Thread safety: the thread that begins a scope must end it.
class OperationContext::Scope {
public:
    explicit Scope(OperationContext context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

private:
    OperationContext context_;
    const OperationContext* outer_;
};

} // namespace sessionq
