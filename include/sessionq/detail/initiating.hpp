// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <sessionq/detail/call.hpp>
#include <sessionq/detail/calls.hpp>
#include <sessionq/redrive.hpp>

#ifndef SESSIONQ_ASIO
#error "include <sessionq/async.hpp> or <sessionq/boost_asio.hpp>"
#endif

/// Calls of the library as asynchronous operations of the application's Asio, which the including
/// header chooses. Each Asio has a namespace of its own here, so that two files of a program may
/// use different ones. Not for applications.
namespace sessionq::detail::inline SESSIONQ_ASIO_ADAPTER {

namespace net = SESSIONQ_ASIO;

using UseAwaitable = net::use_awaitable_t<>;

template <typename T>
struct SignatureOf {
    using Type = void(std::exception_ptr, T);
};
template <>
struct SignatureOf<void> {
    using Type = void(std::exception_ptr);
};
/// Of the handlers of calls with a result of type `T`.
template <typename T>
using Signature = typename SignatureOf<T>::Type;

/// Takes the answer and calls the handler, on the handler's executor.
template <typename T, typename Handler>
class Completing {
public:
    using allocator_type = net::associated_allocator_t<Handler>;

    Completing(Handler handler, std::shared_ptr<AnyCall> call, AnyAnswerPtr answer)
        : handler_{std::move(handler)}, call_{std::move(call)}, answer_{std::move(answer)} {}

    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return net::get_associated_allocator(handler_);
    }

    void operator()() {
        std::exception_ptr error;
        if constexpr (std::is_void_v<T>) {
            try {
                Call<T>::take(*answer_);
            } catch (...) {
                error = std::current_exception();
            }
            release();
            std::move(handler_)(std::move(error));
        } else {
            std::optional<T> result;
            try {
                result.emplace(Call<T>::take(*answer_));
            } catch (...) {
                error = std::current_exception();
            }
            release();
            if (error) {
                result.emplace(empty_result<T>());
            }
            std::move(handler_)(std::move(error), *std::move(result));
        }
    }

private:
    void release() noexcept {
        answer_.reset();
        call_.reset();
    }

    // Destroyed last: its coroutine keeps alive the objects that the answer refers to.
    Handler handler_;
    std::shared_ptr<AnyCall> call_;
    AnyAnswerPtr answer_;
};

/// Posts the answer to the executor of the handler. The call counts as work of that executor until
/// then.
template <typename T, typename Handler>
class Waiting final : public AnswerHandler {
public:
    Waiting(Handler handler, std::shared_ptr<AnyCall> call)
        : executor_{net::get_associated_executor(handler)},
          handler_{std::move(handler)},
          call_{std::move(call)} {}

    void answered(AnyAnswerPtr answer) override {
        net::post(executor_,
                  Completing<T, Handler>{std::move(handler_), std::move(call_), std::move(answer)});
        work_.reset();
    }

private:
    using Executor = net::associated_executor_t<Handler>;

    Executor executor_;
    net::executor_work_guard<Executor> work_{executor_};
    Handler handler_;
    std::shared_ptr<AnyCall> call_;
};

/// Starts a call for a handler. Asio's cancellation of the handler cancels the call.
template <typename T, typename Handler>
void start_call(const std::shared_ptr<AnyCall>& call, Handler handler) {
#if SESSIONQ_ASIO_CANCELS
    auto slot = net::get_associated_cancellation_slot(handler);
#endif
    auto running = call->answer_to(std::make_unique<Waiting<T, Handler>>(std::move(handler), call));
#if SESSIONQ_ASIO_CANCELS
    if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr<AnyCall>{call},
                     running = std::move(running)](net::cancellation_type type) {
            const auto kept = weak.lock(); // keeps the client
            const auto there = running.lock();
            if (kept != nullptr && there != nullptr && type != net::cancellation_type::none) {
                there->cancel();
            }
        });
    }
#else
    static_cast<void>(running);
#endif
    // The answer may come at once on another thread. Then only `call` keeps the client here.
    call->start();
}

/// The initiation of a call.
template <typename T>
class Starting {
public:
    explicit Starting(CallPtr<T> call) noexcept : call_{std::move(call)} {}

    template <typename Handler>
    void operator()(Handler&& handler) {
        start_call<T, std::decay_t<Handler>>(std::move(call_), std::forward<Handler>(handler));
    }

private:
    CallPtr<T> call_;
};

/// A redrive: its requests one after another, each a call. Each but the first starts on the
/// handler's executor.
template <typename Handler>
class Redriving {
public:
    using executor_type = net::associated_executor_t<Handler>;
    using allocator_type = net::associated_allocator_t<Handler>;
#if SESSIONQ_ASIO_CANCELS
    using cancellation_slot_type = net::associated_cancellation_slot_t<Handler>;

    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return net::get_associated_cancellation_slot(handler_);
    }
#endif

    Redriving(Handler handler, std::unique_ptr<RedriveSteps> steps)
        : handler_{std::move(handler)}, steps_{std::move(steps)} {}

    [[nodiscard]] executor_type get_executor() const noexcept {
        return net::get_associated_executor(handler_);
    }
    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return net::get_associated_allocator(handler_);
    }

    /// Call it once, on any thread.
    void begin() {
        if (CallPtr<void> call = next()) {
            start_call<void, Redriving>(std::move(call), std::move(*this));
        } else {
            const executor_type executor = get_executor();
            net::post(executor, std::move(*this));
        }
    }

    /// A request has ended.
    void operator()(std::exception_ptr error) {
        error_ = std::move(error);
        if (CallPtr<void> call = error_ ? nullptr : next()) {
            start_call<void, Redriving>(std::move(call), std::move(*this));
        } else {
            (*this)();
        }
    }

    /// Nothing is left to do.
    void operator()() {
        RedriveReport report = error_ ? RedriveReport{} : steps_->report();
        steps_.reset();
        std::move(handler_)(std::move(error_), std::move(report));
    }

private:
    [[nodiscard]] CallPtr<void> next() noexcept try { return steps_->next(); } catch (...) {
        error_ = std::current_exception();
        return nullptr;
    }

    Handler handler_; // destroyed last, as that of `Completing`
    std::unique_ptr<RedriveSteps> steps_;
    std::exception_ptr error_{};
};

/// The initiation of a redrive.
class StartingRedrive {
public:
    explicit StartingRedrive(std::unique_ptr<RedriveSteps> steps) noexcept
        : steps_{std::move(steps)} {}

    template <typename Handler>
    void operator()(Handler&& handler) {
        Redriving<std::decay_t<Handler>>{std::forward<Handler>(handler), std::move(steps_)}.begin();
    }

private:
    std::unique_ptr<RedriveSteps> steps_;
};

/// What a function returns whose result is `T`: as the token says. For `use_awaitable` it is
/// `awaitable<T>`.
template <typename T, typename Token, typename Initiation = Starting<T>>
using Async = decltype(net::async_initiate<Token, Signature<T>>(std::declval<Initiation>(),
                                                                std::declval<Token&>()));

template <typename T, typename Token>
Async<T, Token> initiate(CallPtr<T> call, Token&& token) {
    return net::async_initiate<Token, Signature<T>>(Starting<T>{std::move(call)}, token);
}

template <typename Token>
using AsyncRedrive = Async<RedriveReport, Token, StartingRedrive>;

template <typename Token>
AsyncRedrive<Token> initiate(std::unique_ptr<RedriveSteps> steps, Token&& token) {
    return net::async_initiate<Token, Signature<RedriveReport>>(StartingRedrive{std::move(steps)},
                                                                token);
}

} // namespace sessionq::detail::inline SESSIONQ_ASIO_ADAPTER
