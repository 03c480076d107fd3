#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <sessionq/deadline.hpp>

namespace sessionq {

/// A trace context as W3C's Trace Context defines its two headers; carried along, neither read nor
/// checked.
struct TraceContext {
    std::string traceparent{};
    std::string tracestate{};

    friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

/// What an operation and everything it calls share: a deadline, a stop token, a trace context.
///
/// Every call of sessionq takes one as its last argument; left out, it is the ambient one,
/// `current()`: that of the task which runs on this thread. Handlers run under one whose deadline
/// is their lease's, so that any sessionq call made inside a handler inherits what remains of it.
/// Tasks carry the context of whoever submitted them; it is restored before they run and cleared
/// after (R21).
///
/// A call ends with `timeout` at the deadline and with `cancelled` when the stop token fires; one
/// whose deadline has passed already is not started. Without a deadline
/// `ClientOptions::operation_timeout` applies.
///
/// Thread safety: a value; distinct objects are safe, a shared object is safe to read.
class OperationContext {
public:
    OperationContext() = default;
    explicit OperationContext(Deadline deadline, std::stop_token stop = {})
        : deadline_{deadline}, stop_{std::move(stop)} {}

    [[nodiscard]] Deadline deadline() const noexcept { return deadline_; }
    [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
    /// Null: none. Valid as long as this context or a copy.
    [[nodiscard]] const TraceContext* trace() const noexcept { return trace_.get(); }

    /// This context with a deadline of its own: the sooner of both, an explicit one never extends
    /// (R20).
    [[nodiscard]] OperationContext with_deadline(Deadline deadline) const;
    /// This context with `stop` in place of its stop token.
    [[nodiscard]] OperationContext with_stop(std::stop_token stop) const;
    [[nodiscard]] OperationContext with_trace(TraceContext trace) const;

    /// The deadline an operation runs under: the one in scope, or `configured` after `now` only
    /// where none is in scope (R20).
    [[nodiscard]] Deadline effective(Duration configured, TimePoint now) const noexcept {
        return deadline_.is_never() ? Deadline::after(configured, now) : deadline_;
    }

    /// Empty: no deadline, a token that never fires, no trace. What periodic work starts with.
    [[nodiscard]] bool is_clean() const noexcept {
        return deadline_.is_never() && !stop_.stop_possible() && !trace_;
    }

    /// The ambient context of this thread; a clean one outside any scope. Valid until the scope
    /// ends: copy it to keep it.
    [[nodiscard]] static const OperationContext& current() noexcept;

    class Scope;

private:
    Deadline deadline_{};
    std::stop_token stop_{};
    std::shared_ptr<const TraceContext> trace_{};
};

/// Makes a context ambient on this thread for a scope and puts back what was there. Scopes nest;
/// end them in reverse order.
///
/// Thread safety: belongs to the thread that began it, which is also the one that ends it.
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
