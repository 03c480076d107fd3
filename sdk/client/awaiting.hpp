// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include "client/public_call.hpp"

namespace sessionq::client {

/// An operation that a coroutine awaits. The answer is posted to the coroutine's executor. The
/// operation counts as work of that executor until then.
template <typename T, typename Handler>
class AwaitedPending final : public Pending<T> {
public:
    AwaitedPending(core::EventLoop& loop, Deadline deadline, Handler handler)
        : Pending<T>{loop, deadline},
          executor_{asio::get_associated_executor(handler)},
          handler_{std::move(handler)} {}

    /// Gives the operation up when Asio cancels the coroutine.
    void watch_slot() {
        auto slot = asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected()) {
            slot.assign([weak = this->weak_from_this()](asio::cancellation_type type) {
                if (auto self = weak.lock(); self && type != asio::cancellation_type::none) {
                    self->cancel();
                }
            });
        }
    }

private:
    using Executor = asio::associated_executor_t<Handler>;

    struct Resumption {
        Handler handler;
        // Destroyed before the handler, whose coroutine keeps alive what the answer refers to.
        core::Result<T> answer;

        void operator()() { std::move(handler)(std::move(answer)); }
    };

    void deliver(core::Result<T> answer) override {
        asio::post(executor_, Resumption{std::move(handler_), std::move(answer)});
        work_.reset();
    }

    Executor executor_;
    asio::executor_work_guard<Executor> work_{executor_};
    Handler handler_;
};

/// Runs the call and resumes the coroutine on its own executor.
template <typename T, typename R>
asio::awaitable<R> await(PublicCall<T, R> call) {
    if (!call.operation) {
        co_return call.finish(T{});
    }
    auto answer =
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void(core::Result<T>)>(
            [&operation = *call.operation]<typename Handler>(Handler handler) {
                auto pending = std::make_shared<AwaitedPending<T, Handler>>(
                    operation.loop, operation.deadline, std::move(handler));
                pending->watch(std::move(operation.context));
                pending->trace(std::move(operation.span));
                pending->on_give_up(std::move(operation.unstarted));
                pending->watch_slot();
                launch<T>(pending, std::move(operation.start));
            },
            asio::use_awaitable);
    co_return call.finish(std::move(answer));
}

template <typename T>
asio::awaitable<Returned<T>> await(Operation<T> operation) {
    return await(PublicCall<T>{std::move(operation)});
}

} // namespace sessionq::client
