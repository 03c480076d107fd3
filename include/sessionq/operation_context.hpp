// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include <sessionq/deadline.hpp>
#include <sessionq/trace_context.hpp>

namespace sessionq::inline v1 {

class LockBound;

/// The deadline, the stop token and the trace context of one request. All work for the request
/// shares them, here and in other processes. For the timeout of a single call see `CallOptions`.
///
/// Example:
///
///     const OperationContext request{Deadline::in(std::chrono::seconds{2})};
///     const OperationContext::Scope scope{request};
///     sender.send(Message::of("placed").in_session("ada")); // within two seconds
///     sender.send(Message::of("paid").in_session("ada"));   // within the rest of them
///
/// Each thread has an *ambient* context, `current()`. A `Scope` makes a context ambient. A call of
/// sessionq uses the ambient context, and `CallOptions::context` adds one for the call. A context
/// that you make ambient or pass to a call combines with the context that is ambient already: the
/// earlier deadline holds, and either stop token fires. So nesting shortens a deadline and never
/// extends it. If sessionq does work on another thread, the context goes with the work.
///
/// Messages that are sent in a context carry the time that is left until its deadline (`Sender`).
/// Their handlers run under that deadline. The context of a handler also has the lock that holds
/// its message. The end of a lock is not a deadline, because it moves with every renewal and does
/// not travel in messages. The stop token fires before the lock ends.
///
/// Messages that are sent in a context also carry its trace context. Their handlers run under that
/// trace context. A trace context that is invalid by the W3C's rules stays in the process.
///
/// A call ends with `timeout` at the deadline, and with `cancelled` when the stop token fires. It
/// does not start if the deadline has passed. If the context has no deadline, the call has one of
/// its own (`CallOptions`).
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class OperationContext {
public:
    OperationContext() = default;
    explicit OperationContext(Deadline deadline, std::stop_token stop = {})
        : deadline_{deadline}, stop_{std::move(stop)} {}

    [[nodiscard]] Deadline deadline() const noexcept { return deadline_; }
    /// The stop token of the request. It fires only while this context or a copy of it exists.
    [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
    /// In a handler: when the lock that holds its message ends, as of the last renewal. Elsewhere:
    /// never().
    [[nodiscard]] Deadline lock_expires() const noexcept;
    /// Null: no trace. Valid as long as this context or a copy.
    [[nodiscard]] const TraceContext* trace() const noexcept { return trace_.get(); }

    /// A copy with the sooner of both deadlines. A deadline never extends the one in scope.
    [[nodiscard]] OperationContext with_deadline(Deadline deadline) const;
    /// A copy whose stop token fires when `stop` or its own does.
    [[nodiscard]] OperationContext with_stop(std::stop_token stop) const;
    /// A copy with `trace` instead of its trace context.
    [[nodiscard]] OperationContext with_trace(TraceContext trace) const;
    /// Combines this context with `outer`: the earlier deadline, and a stop token that fires when
    /// either of them does. Keeps the trace context and the lock of this context, or takes those of
    /// `outer` if this context has none.
    [[nodiscard]] OperationContext within(const OperationContext& outer) const;

    /// Whether it has no deadline, no trace, no lock, and a token that never fires. Periodic work
    /// starts with such a context.
    [[nodiscard]] bool is_clean() const noexcept {
        return deadline_.is_never() && !stop_.stop_possible() && !trace_ && !lock_;
    }

    /// The ambient context of this thread. Clean outside any scope. Valid until the scope ends:
    /// copy it to keep it.
    [[nodiscard]] static const OperationContext& current() noexcept;

    class Scope;
    class DetachedScope;

private:
    friend class LockBound;

    void add_stop(const std::stop_token& stop, std::shared_ptr<const void> fires);

    Deadline deadline_{};
    std::stop_token stop_{};
    std::shared_ptr<const TraceContext> trace_{};
    std::shared_ptr<const LockBound> lock_{};
    std::shared_ptr<const void> fires_stop_{}; // null: the application's stop source
};

/// Makes a context ambient on this thread until the scope ends. The context combines with the one
/// that is already ambient, and the end of the scope restores that one. Scopes nest. End them in
/// reverse order.
///
/// A scope must be a local variable of a function that is not a coroutine. A scope in a coroutine,
/// or on the heap, throws `Error{Errc::invalid_state}`: while a coroutine is suspended, its scope
/// would apply to other work on the same thread. In a coroutine, pass the context to each function.
/// A handler that is a coroutine runs under its message's context anyway.
///
/// Example:
///
///     std::stop_source user_left;
///     const OperationContext::Scope scope{
///         OperationContext::current().with_stop(user_left.get_token())};
///     sender.send(Message::of("placed").in_session("ada")); // cancelled when user_left fires
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

/// Makes the ambient context clean until the scope ends, so that work in the scope is not part of
/// the request around it. A scope must be a local variable of a function that is not a coroutine.
/// Otherwise it throws `Error{Errc::invalid_state}`.
///
/// Example:
///
///     const OperationContext::DetachedScope detached;
///     // sent also if the request is out of time
///     sender.send(Message::of("ada logged in").in_session("audit"));
///
/// Thread safety: the thread that begins a scope must end it.
class OperationContext::DetachedScope {
public:
    DetachedScope();
    ~DetachedScope();
    DetachedScope(const DetachedScope&) = delete;
    DetachedScope& operator=(const DetachedScope&) = delete;

private:
    const OperationContext* outer_;
};

} // namespace sessionq::inline v1
