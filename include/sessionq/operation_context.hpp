// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include <sessionq/deadline.hpp>
#include <sessionq/trace_context.hpp>

namespace sessionq {

class LockBound;

/// The deadline, the stop token and the trace context of a request, shared with all that is done
/// for it, here and in other processes. For a timeout of one call see `CallOptions`.
///
/// Example:
///
///     const OperationContext request{Deadline::in(std::chrono::seconds{2})};
///     const OperationContext::Scope scope{request};
///     sender.send(Message::text("ada", "placed")); // within two seconds
///     sender.send(Message::text("ada", "paid"));   // within the rest of them
///
/// Every function of sessionq that waits runs in the ambient context, `current()`: that of the task
/// on this thread. `CallOptions::context` adds one for a call. A context that is passed or made
/// ambient combines with the one that is ambient already: the sooner deadline holds, and either
/// stop token stops. So nesting shortens a deadline and never extends it. A task carries the
/// context of its submitter. It is restored before the task runs and cleared after.
///
/// The deadline belongs to a request. Messages that are sent within it carry the time that is left
/// (`Sender`), and their handlers run under it. A handler's context also has the lock of its
/// session. The lock is no deadline: it moves with every renewal and does not travel in messages.
/// The stop token fires before it ends.
///
/// The trace context belongs to a request, too. Messages that are sent within it carry it, and
/// their handlers run under it. A trace context that is invalid by the W3C's rules stays in the
/// process.
///
/// A call ends with `timeout` at the deadline, and with `cancelled` when the stop token fires. It
/// does not start if the deadline has passed. Without a deadline, that of the call applies
/// (`CallOptions`).
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class OperationContext {
public:
    OperationContext() = default;
    explicit OperationContext(Deadline deadline, std::stop_token stop = {})
        : deadline_{deadline}, stop_{std::move(stop)} {}

    [[nodiscard]] Deadline deadline() const noexcept { return deadline_; }
    /// Fires as long as this context or a copy exists.
    [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
    /// The end of the session's lock in a handler, as of its last renewal. Otherwise never.
    [[nodiscard]] Deadline lock_expires() const noexcept;
    /// Null: no trace. Valid as long as this context or a copy.
    [[nodiscard]] const TraceContext* trace() const noexcept { return trace_.get(); }

    /// A copy with the sooner of both deadlines. A deadline never extends the one in scope.
    [[nodiscard]] OperationContext with_deadline(Deadline deadline) const;
    /// A copy whose stop token fires when `stop` or its own does.
    [[nodiscard]] OperationContext with_stop(std::stop_token stop) const;
    /// A copy with `trace` instead of its trace context.
    [[nodiscard]] OperationContext with_trace(TraceContext trace) const;
    /// This context and `outer` combined. Trace context and lock are those of `outer` where this
    /// has none.
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
    std::shared_ptr<const void> fires_stop_{}; // null where the token's own source does
};

/// Makes a context ambient on this thread for a scope, combined with the one that is ambient
/// already. Restores that one at its end. Scopes nest. End them in reverse order.
///
/// It must be a local variable of a function that is no coroutine. While a coroutine is suspended,
/// its scope would be that of other work on the same thread. So a scope in a coroutine, or on the
/// heap, throws `Error{Errc::invalid_state}`. In a coroutine, pass the context to each function. A
/// handler that is a coroutine runs under its message's context anyway.
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

/// Makes the ambient context clean for a scope: work that starts in it is not part of the request
/// around it. It must be a local variable, as a `Scope` must.
///
/// Example:
///
///     const OperationContext::DetachedScope detached;
///     sender.send(Message::text("audit", "ada logged in")); // also if the request is out of time
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

} // namespace sessionq
