// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <sessionq/operation_context.hpp>

#include "client/calls/pending_machine.hpp"
#include "core/event_loop.hpp"
#include "core/result.hpp"
#include "core/tracing.hpp"
#include "timing/timer.hpp"

namespace sessionq::detail::client {

/// An operation that runs on a loop, from `launch` to its answer. It ends exactly once (R15). The
/// first of these events ends it: its answer, its deadline, its stop token, or the end of the loop.
/// Its `PendingMachine` decides.
///
/// It is created on the caller's thread, and started and ended on the loop's thread.
class PendingBase : public std::enable_shared_from_this<PendingBase> {
public:
    PendingBase(core::EventLoop& loop, Deadline deadline);
    virtual ~PendingBase() = default;
    PendingBase(const PendingBase&) = delete;
    PendingBase& operator=(const PendingBase&) = delete;

    [[nodiscard]] core::EventLoop& loop() const noexcept { return loop_; }
    [[nodiscard]] Deadline deadline() const noexcept { return deadline_; }
    [[nodiscard]] bool ended() const noexcept {
        return machine_.phase() == PendingMachine::Phase::ended;
    }

    /// Sets the context. When its stop token fires, the operation is given up with `cancelled`.
    /// Call `watch` before the operation is posted to the loop.
    void watch(OperationContext context) { context_ = std::move(context); }

    /// Sets the operation's span. The span ends with the operation. Call `trace` before the
    /// operation is posted to the loop.
    void trace(std::shared_ptr<core::OpenSpan> span) noexcept { span_ = std::move(span); }

    /// A port works on the operation from now on. `give_up` gives the operation up at the port. If
    /// the operation is given up, the port's answer still ends it, because the port knows whether
    /// the request was sent.
    void ask_port(std::function<void()> give_up);

    /// Gives the operation up with `cancelled`. Thread-safe while the loop exists.
    void cancel();

    /// Starts the operation on the loop: from now on its deadline and its stop token can end it.
    /// Returns false if it has already ended.
    [[nodiscard]] bool begin();

    /// Ends the operation with `why`. While a port works on the operation, only tells the port,
    /// whose answer then ends the operation. No effect if the operation has ended.
    void give_up(Errc why);

protected:
    /// Ends the operation. Returns false if it had ended before, by an answer or because it was
    /// given up. The caller's answer then does not count.
    [[nodiscard]] bool end() noexcept;

    /// `failure` null: the operation succeeded.
    void end_span(const Failure* failure) noexcept {
        if (span_ != nullptr) {
            span_->end(failure);
        }
    }

    /// Why the operation was given up while the port worked on it.
    [[nodiscard]] const std::optional<Errc>& given_up_as() const noexcept {
        return machine_.given_up_as();
    }

private:
    struct Canceller {
        PendingBase* pending;
        void operator()() const { pending->cancel(); }
    };

    void release() noexcept;
    void on_deadline() { give_up(Errc::timeout); }

    /// Delivers the answer of an operation that was given up: a failure with `why`, or the answer
    /// that the function of `on_give_up` returns.
    virtual void answer_given_up(Errc why) = 0;

    core::EventLoop& loop_;
    const Deadline deadline_;
    PendingMachine machine_{};
    std::function<void()> port_gives_up_{};
    timing::Timer timer_{timing::Timer::calling<&PendingBase::on_deadline>(this)};
    OperationContext context_{};
    std::optional<std::stop_callback<Canceller>> stop_callback_{}; // touched on the loop only
    std::shared_ptr<core::OpenSpan> span_{};                       // null: none
};

/// An operation that answers with a `T`. A subclass delivers the answer: `BlockingPending` wakes
/// the waiting thread, and `AnsweringPending` calls a handler.
template <typename T>
class Pending : public PendingBase {
public:
    using PendingBase::PendingBase;

    /// Answers the operation. Returns false if the operation had ended before. The caller must then
    /// give back a session that came too late (R19).
    bool complete(core::Result<T> answer) {
        if (!end()) {
            return false;
        }
        given_up_ = nullptr;
        if (given_up_as() && !answer && answer.failure().code == Errc::cancelled) {
            Failure why = answer.failure();
            why.code = *given_up_as();
            answer = std::move(why);
        }
        conclude(std::move(answer));
        return true;
    }

    /// Sets the function that answers the operation when the operation is given up. The function
    /// returns the answer. A new function replaces the last function.
    void on_give_up(std::function<core::Result<T>(Failure)> handler) {
        given_up_ = std::move(handler);
    }

private:
    /// Takes the answer, on the loop's thread, once. Runs no user code.
    virtual void deliver(core::Result<T> answer) = 0;

    void conclude(core::Result<T> answer) {
        end_span(answer.ok() ? nullptr : &answer.failure());
        deliver(std::move(answer));
    }

    void answer_given_up(Errc why) final {
        Failure failure{.code = why};
        auto handler = std::exchange(given_up_, nullptr);
        conclude(handler ? handler(std::move(failure)) : core::Result<T>{std::move(failure)});
    }

    std::function<core::Result<T>(Failure)> given_up_{};
};

template <typename T>
using PendingPtr = std::shared_ptr<Pending<T>>;

/// The handler that a port gets for the answer of an operation. Its copies share the duty to
/// answer. If the port drops every copy without an answer, as a destroyed link does, the operation
/// ends with `unanswered`.
template <typename T>
class AnswerTo {
public:
    explicit AnswerTo(PendingPtr<T> pending, Errc unanswered = Errc::cancelled)
        : duty_{pending.get(), [pending, unanswered](Pending<T>* operation) {
                    operation->complete(Failure{.code = unanswered});
                }} {}

    void operator()(core::Result<T> answer) const { duty_->complete(std::move(answer)); }

private:
    PendingPtr<T> duty_; // its deleter answers
};

/// The function that starts an operation on its loop. It must make sure that `complete` is called.
template <typename T>
using Start = std::function<void(const PendingPtr<T>&)>;

/// Posts an operation to its loop, which calls `start`. If the loop ends first, the operation ends
/// with `cancelled`.
template <typename T>
void launch(PendingPtr<T> pending, Start<T> start) {
    struct Launch {
        PendingPtr<T> pending;
        Start<T> start;

        Launch(PendingPtr<T> operation, Start<T> body)
            : pending{std::move(operation)}, start{std::move(body)} {}
        Launch(Launch&&) noexcept = default;
        Launch& operator=(Launch&&) = delete;
        ~Launch() {
            if (pending) {
                pending->give_up(Errc::cancelled);
            }
        }
        void operator()() {
            const PendingPtr<T> begun = std::move(pending);
            if (begun->begin()) {
                start(begun);
            }
        }
    };
    core::EventLoop& loop = pending->loop();
    loop.post(Launch{std::move(pending), std::move(start)});
}

} // namespace sessionq::detail::client
