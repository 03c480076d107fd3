// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <span>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include <sessionq/basic_handler.hpp>
#include <sessionq/callback.hpp>
#include <sessionq/detail/handler_place.hpp>

#ifndef SESSIONQ_ASIO
#error "include <sessionq/async.hpp> or <sessionq/boost_asio.hpp>"
#endif

/// Handlers that are coroutines of the application's Asio, in a namespace for each Asio, as
/// `initiating.hpp` has it. Not for applications.
namespace sessionq::detail::inline SESSIONQ_ASIO_ADAPTER {

namespace net = SESSIONQ_ASIO;

/// Lets Asio's timers and sockets work in the handlers of a processor. Asio starts one thread with
/// the first of them. Its end destroys the coroutines that still wait.
class WorkersContext final : public net::execution_context, public Companion {
public:
    [[nodiscard]] static WorkersContext& of(const HandlerPlace& place) {
        static const char key{};
        return static_cast<WorkersContext&>(
            place.companion(&key, []() -> std::unique_ptr<Companion> {
                return std::make_unique<WorkersContext>();
            }));
    }
};

/// An executor of Asio: the workers, as one run of a handler uses them. It runs functions later,
/// never within `execute`. A cheap value that meets the requirements of `any_io_executor`.
class HandlerExecutor {
public:
    explicit HandlerExecutor(HandlerPlacePtr place)
        : context_{&WorkersContext::of(*place)}, place_{std::move(place)} {}

    template <typename Function>
    void execute(Function&& function) const {
        place_->post(
            std::make_unique<Execution<std::decay_t<Function>>>(std::forward<Function>(function)));
    }

    [[nodiscard]] net::execution_context& query(net::execution::context_t) const noexcept {
        return *context_;
    }
    [[nodiscard]] static constexpr net::execution::blocking_t query(
        net::execution::blocking_t) noexcept {
        return net::execution::blocking.never;
    }
    [[nodiscard]] static constexpr net::execution::mapping_t query(
        net::execution::mapping_t) noexcept {
        return net::execution::mapping.thread;
    }
    [[nodiscard]] HandlerExecutor require(net::execution::blocking_t::never_t) const noexcept {
        return *this;
    }

    friend bool operator==(const HandlerExecutor& a, const HandlerExecutor& b) noexcept {
        return a.place_ == b.place_;
    }
    friend bool operator!=(const HandlerExecutor& a, const HandlerExecutor& b) noexcept {
        return !(a == b);
    }

private:
    template <typename Function>
    struct Execution final : Job {
        explicit Execution(Function of) : function{std::move(of)} {}
        void run() override { function(); }
        Function function;
    };

    WorkersContext* context_;
    HandlerPlacePtr place_;
};

using HandlerStrand = net::strand<HandlerExecutor>;

#if SESSIONQ_ASIO_CANCELS

/// Runs the handler, and cancels the operation that it waits for when `stop` fires.
template <typename Begin>
[[nodiscard]] net::awaitable<void> run_handler(Begin begin, std::stop_token stop,
                                               HandlerStrand strand,
                                               std::weak_ptr<net::cancellation_signal> signal) {
    // It goes with the coroutine. By then the callback has posted, or never will.
    const std::stop_callback cancel{std::move(stop), [strand, signal] {
                                        net::post(strand, [signal] {
                                            if (const auto there = signal.lock()) {
                                                there->emit(net::cancellation_type::all);
                                            }
                                        });
                                    }};
    auto handling = begin();
    co_await std::move(handling);
}

template <typename Begin, typename Ended>
void spawn_handler(Begin begin, const HandlerPlace& place, const HandlerStrand& strand,
                   Ended ended) {
    // The signal belongs to the strand. The function below owns it.
    const auto signal = std::make_shared<net::cancellation_signal>();
    net::co_spawn(strand, run_handler(std::move(begin), place.stop_token(), strand, signal),
                  net::bind_cancellation_slot(
                      signal->slot(), [ended = std::move(ended), signal](std::exception_ptr error) {
                          ended(std::move(error));
                      }));
}

#else // this version of Asio cannot cancel a coroutine

template <typename Begin>
[[nodiscard]] net::awaitable<void> run_handler(Begin begin) {
    auto handling = begin();
    co_await std::move(handling);
}

template <typename Begin, typename Ended>
void spawn_handler(Begin begin, const HandlerPlace& /*place*/, const HandlerStrand& strand,
                   Ended ended) {
    net::co_spawn(strand, run_handler(std::move(begin)), std::move(ended));
}

#endif

template <typename... Args>
using CoroutineFunction = Callback<net::awaitable<void>(Args...)>;

/// A function that `coroutine` makes a handler of.
template <typename F>
concept HandlerCoroutine = std::convertible_to<F, CoroutineFunction<MessageContext&>> ||
    std::convertible_to<F, CoroutineFunction<std::span<MessageContext>>> ||
    std::convertible_to<F, CoroutineFunction<SessionContext&>> ||
    std::convertible_to<F, CoroutineFunction<SessionContext&, CloseReason>>;

/// `Args` are the types of the handler's arguments. The first one tells where it runs.
template <typename... Args>
[[nodiscard]] BasicHandler<Args...> coroutine_handler(
    Callback<net::awaitable<void>(Args...)> handler) {
    using Handler = Callback<net::awaitable<void>(Args...)>;
    return BasicHandler<Args...>::started_by([shared = std::make_shared<const Handler>(std::move(
                                                  handler))](Args... args, Completion completion) {
        const std::tuple<Args...> held{args...};
        const HandlerPlacePtr place = handler_place(std::get<0>(held));
        const HandlerStrand strand{HandlerExecutor{place}};
        // The function `ended` owns the handler.
        const auto begin = [handler = shared.get(), held] { return std::apply(*handler, held); };
        auto ended = [completion = std::move(completion), shared](std::exception_ptr error) {
            if (error) {
                completion.failed(std::move(error));
            } else {
                completion.done();
            }
        };
        spawn_handler(begin, *place, strand, std::move(ended));
    });
}

} // namespace sessionq::detail::inline SESSIONQ_ASIO_ADAPTER
