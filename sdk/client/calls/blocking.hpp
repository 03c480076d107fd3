// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include <sessionq/detail/call.hpp>
#include <sessionq/error.hpp>

#include "client/calls/operation.hpp"

namespace sessionq::detail::client {

/// An operation that the caller's thread waits for. `block` makes one. The receive thread delivers
/// the answer and wakes the caller.
template <typename T>
class BlockingPending final : public Pending<T> {
public:
    using Pending<T>::Pending;

    [[nodiscard]] core::Result<T> wait() {
        std::unique_lock lock{mutex_};
        answered_.wait(lock, [this] { return answer_.has_value(); });
        return std::move(*answer_);
    }

private:
    void deliver(core::Result<T> answer) override {
        const std::lock_guard lock{mutex_};
        answer_.emplace(std::move(answer));
        answered_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable answered_;
    std::optional<core::Result<T>> answer_;
};

/// Throws `invalid_state` on a receive thread.
inline void require_may_wait() {
    if (ReceiveThread::on_any()) {
        throw Error{
            Errc::invalid_state,
            "a blocking call on a receive thread, where nothing may wait; use an async_ function "
            "or another thread"};
    }
}

/// Runs the call and waits for its answer, until its deadline.
template <typename T, typename R>
R block(PublicCall<T, R> call) {
    if (!call.operation) {
        return call.finish(T{});
    }
    require_may_wait();
    Operation<T>& operation = *call.operation;
    auto pending = std::make_shared<BlockingPending<T>>(operation.loop, operation.deadline);
    pending->watch(std::move(operation.context));
    pending->trace(std::move(operation.span));
    pending->on_give_up(std::move(operation.unstarted));
    launch<T>(pending, std::move(operation.start));
    return call.finish(pending->wait());
}

template <typename T>
Returned<T> block(Operation<T> operation) {
    return block(PublicCall<T>{std::move(operation)});
}

/// Runs a call that `prepared` made, and waits for its answer. `redrive` gets such calls from
/// `RedriveRun`.
template <typename R>
R block(detail::CallPtr<R> call) {
    struct Waiting final : detail::AnswerHandler {
        void answered(detail::AnyAnswerPtr answer) override {
            promise.set_value(std::move(answer));
        }
        std::promise<detail::AnyAnswerPtr> promise{};
    };
    require_may_wait();
    auto waiting = std::make_unique<Waiting>();
    auto answer = waiting->promise.get_future();
    static_cast<void>(call->answer_to(std::move(waiting)));
    call->start();
    return detail::Call<R>::take(*answer.get());
}

} // namespace sessionq::detail::client
