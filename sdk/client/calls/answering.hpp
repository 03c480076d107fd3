// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include <sessionq/detail/call.hpp>

#include "client/calls/operation.hpp"

namespace sessionq::detail::client {

/// The answer of a public call, for a coroutine or the application's Asio. The handler of
/// `PreparedCall::answer_to` gets it. `take` makes the caller's result (`R`) from the operation's
/// answer (`T`), or throws the call's failure.
template <typename T, typename R>
class AnswerOf final : public detail::Answer<R> {
public:
    using Finish = decltype(PublicCall<T, R>::finish);

    AnswerOf(Finish finish, core::Result<T> answer)
        : finish_{std::move(finish)}, answer_{std::move(answer)} {}

    R take() override { return finish_(std::move(answer_)); }

private:
    Finish finish_;
    core::Result<T> answer_;
};

/// An operation that passes its answer to a handler. `PreparedCall` makes it. The receive thread
/// calls the handler.
template <typename T, typename R>
class AnsweringPending final : public Pending<T>, public detail::Cancellable {
public:
    using Finish = typename AnswerOf<T, R>::Finish;

    AnsweringPending(core::EventLoop& loop, Deadline deadline, Finish finish,
                     detail::AnswerHandlerPtr handler)
        : Pending<T>{loop, deadline}, finish_{std::move(finish)}, handler_{std::move(handler)} {}

    void cancel() override { PendingBase::cancel(); }

private:
    void deliver(core::Result<T> answer) override {
        const detail::AnswerHandlerPtr handler = std::move(handler_);
        handler->answered(std::make_unique<AnswerOf<T, R>>(std::move(finish_), std::move(answer)));
    }

    Finish finish_;
    detail::AnswerHandlerPtr handler_;
};

/// A public call for a coroutine or the application's own Asio. `calls.cpp` prepares it on the
/// caller's thread. The adapter sets the handler with `answer_to`, and then calls `start`.
template <typename T, typename R>
class PreparedCall final : public detail::Call<R> {
public:
    explicit PreparedCall(PublicCall<T, R> call) : call_{std::move(call)} {}

    std::weak_ptr<detail::Cancellable> answer_to(detail::AnswerHandlerPtr handler) override {
        if (!call_.operation) {
            handler_ = std::move(handler);
            return {};
        }
        Operation<T>& operation = *call_.operation;
        pending_ = std::make_shared<AnsweringPending<T, R>>(
            operation.loop, operation.deadline, std::move(call_.finish), std::move(handler));
        pending_->watch(std::move(operation.context));
        pending_->trace(std::move(operation.span));
        pending_->on_give_up(std::move(operation.unstarted));
        return pending_;
    }

    // After the launch the caller may destroy this object at any time.
    void start() override {
        if (pending_ == nullptr) {
            const detail::AnswerHandlerPtr handler = std::move(handler_);
            handler->answered(std::make_unique<AnswerOf<T, R>>(std::move(call_.finish), T{}));
            return;
        }
        launch<T>(std::move(pending_), std::move(call_.operation->start));
    }

private:
    PublicCall<T, R> call_;
    detail::AnswerHandlerPtr handler_{}; ///< of a call that has nothing to do
    std::shared_ptr<AnsweringPending<T, R>> pending_{};
};

template <typename T, typename R>
[[nodiscard]] detail::CallPtr<R> prepared(PublicCall<T, R> call) {
    return std::make_unique<PreparedCall<T, R>>(std::move(call));
}

template <typename T>
[[nodiscard]] detail::CallPtr<Returned<T>> prepared(Operation<T> operation) {
    return prepared(PublicCall<T>{std::move(operation)});
}

} // namespace sessionq::detail::client
