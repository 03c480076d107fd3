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

#include <sessionq/detail/call.hpp>
#include <sessionq/detail/calls.hpp>

#ifndef ASIO_HAS_CO_AWAIT
#error "Asio sees no coroutines: old versions need -DASIO_HAS_CO_AWAIT with Clang"
#endif

/// Calls of the library as awaitables of the application's Asio. Not for applications.
namespace sessionq::detail {

/// Posts the answer to the executor of the coroutine. The call counts as work of that executor
/// until then.
template <typename Handler>
class Resuming final : public AnswerHandler {
public:
    explicit Resuming(Handler handler)
        : executor_{asio::get_associated_executor(handler)}, handler_{std::move(handler)} {}

    void answered(AnyAnswerPtr answer) override {
        asio::post(executor_, Resumption{std::move(handler_), std::move(answer)});
        work_.reset();
    }

private:
    using Executor = asio::associated_executor_t<Handler>;

    struct Resumption {
        Handler handler;
        // Destroyed before the handler, whose coroutine keeps alive the objects that the answer
        // refers to.
        AnyAnswerPtr answer;

        void operator()() { std::move(handler)(std::move(answer)); }
    };

    Executor executor_;
    asio::executor_work_guard<Executor> work_{executor_};
    Handler handler_;
};

/// Starts a call for a handler. Asio's cancellation of the handler cancels the call.
struct Starting {
    AnyCall* call;

    template <typename Handler>
    void operator()(Handler handler) const {
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto running = call->answer_to(std::make_unique<Resuming<Handler>>(std::move(handler)));
        if (slot.is_connected()) {
            slot.assign([running = std::move(running)](asio::cancellation_type type) {
                if (const auto there = running.lock();
                    there != nullptr && type != asio::cancellation_type::none) {
                    there->cancel();
                }
            });
        }
        call->start();
    }
};

template <typename T>
[[nodiscard]] asio::awaitable<T> await(CallPtr<T> call) {
    const AnyAnswerPtr answer =
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void(AnyAnswerPtr)>(
            Starting{call.get()}, asio::use_awaitable);
    co_return Call<T>::take(*answer);
}

[[nodiscard]] inline asio::awaitable<RedriveReport> perform(std::unique_ptr<RedriveSteps> redrive) {
    while (CallPtr<void> call = redrive->next()) {
        auto answer = await(std::move(call)); // GCC 12: not within the co_await expression
        co_await std::move(answer);
    }
    co_return redrive->report();
}

} // namespace sessionq::detail
