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

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/execution/blocking.hpp>
#include <asio/execution/context.hpp>
#include <asio/execution/mapping.hpp>
#include <asio/execution_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <sessionq/basic_handler.hpp>
#include <sessionq/callback.hpp>
#include <sessionq/detail/handler_place.hpp>

/// Handlers that are coroutines of the application's Asio. Not for applications.
namespace sessionq::detail {

/// Lets Asio's timers and sockets work in the handlers of a processor. Asio starts one thread with
/// the first of them. Its end destroys the coroutines that still wait.
class WorkersContext final : public asio::execution_context, public Companion {
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
/// never within `execute`. A cheap value that meets the requirements of `asio::any_io_executor`.
class HandlerExecutor {
public:
    explicit HandlerExecutor(HandlerPlacePtr place)
        : context_{&WorkersContext::of(*place)}, place_{std::move(place)} {}

    template <typename Function>
    void execute(Function&& function) const {
        place_->post(
            std::make_unique<Execution<std::decay_t<Function>>>(std::forward<Function>(function)));
    }

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return *context_;
    }
    [[nodiscard]] static constexpr asio::execution::blocking_t query(
        asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    [[nodiscard]] static constexpr asio::execution::mapping_t query(
        asio::execution::mapping_t) noexcept {
        return asio::execution::mapping.thread;
    }
    [[nodiscard]] HandlerExecutor require(asio::execution::blocking_t::never_t) const noexcept {
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

using HandlerStrand = asio::strand<HandlerExecutor>;

/// Runs the handler, and cancels the operation that it waits for when `stop` fires.
template <typename Begin>
[[nodiscard]] asio::awaitable<void> run_handler(Begin begin, std::stop_token stop,
                                                HandlerStrand strand,
                                                std::weak_ptr<asio::cancellation_signal> signal) {
    // It goes with the coroutine. By then the callback has posted, or never will.
    const std::stop_callback cancel{std::move(stop), [strand, signal] {
                                        asio::post(strand, [signal] {
                                            if (const auto there = signal.lock()) {
                                                there->emit(asio::cancellation_type::all);
                                            }
                                        });
                                    }};
    auto handling = begin();
    co_await std::move(handling);
}

template <typename... Args>
using CoroutineFunction = Callback<asio::awaitable<void>(Args...)>;

/// A function that `coroutine` makes a handler of.
template <typename F>
concept HandlerCoroutine = std::convertible_to<F, CoroutineFunction<MessageContext&>> ||
    std::convertible_to<F, CoroutineFunction<std::span<MessageContext>>> ||
    std::convertible_to<F, CoroutineFunction<SessionContext&>> ||
    std::convertible_to<F, CoroutineFunction<SessionContext&, CloseReason>>;

/// `Args` are the types of the handler's arguments. The first one tells where it runs.
template <typename... Args>
[[nodiscard]] BasicHandler<Args...> coroutine_handler(
    Callback<asio::awaitable<void>(Args...)> handler) {
    using Handler = Callback<asio::awaitable<void>(Args...)>;
    return BasicHandler<Args...>::started_by([shared = std::make_shared<const Handler>(std::move(
                                                  handler))](Args... args, Completion completion) {
        const std::tuple<Args...> held{args...};
        const HandlerPlacePtr place = handler_place(std::get<0>(held));
        const HandlerStrand strand{HandlerExecutor{place}};
        // The signal belongs to the strand. The function below owns it, and the handler.
        const auto signal = std::make_shared<asio::cancellation_signal>();
        const auto slot = signal->slot();
        const auto begin = [handler = shared.get(), held] { return std::apply(*handler, held); };
        asio::co_spawn(
            strand, run_handler(begin, place->stop_token(), strand, signal),
            asio::bind_cancellation_slot(slot, [completion = std::move(completion), shared,
                                                signal](std::exception_ptr error) {
                if (error) {
                    completion.failed(std::move(error));
                } else {
                    completion.done();
                }
            }));
    });
}

} // namespace sessionq::detail
