// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <asio/execution/blocking.hpp>
#include <asio/execution/context.hpp>
#include <asio/execution/mapping.hpp>
#include <asio/execution_context.hpp>

#include <sessionq/operation_context.hpp>

#include "core/executor.hpp"
#include "core/tracing.hpp"

namespace sessionq::dispatch {

class PoolExecutor;

/// Lets Asio's timers and sockets work for coroutines that run on `executor`. Asio starts one
/// thread with the first timer, and all timers wait there. The waiting coroutine resumes on
/// `executor`.
///
/// Destroy it before `executor`, and after every coroutine on it has ended or was given up.
/// Destruction destroys the coroutines that still wait for a timer or socket.
class PoolContext final : public asio::execution_context {
public:
    explicit PoolContext(core::Executor& executor) noexcept : executor_{executor} {}

    /// Makes an executor for one coroutine. Each resumption runs under `context`, which is cleared
    /// afterwards (R21), and within `span`, if there is one. Thread-safe.
    [[nodiscard]] PoolExecutor executor(OperationContext context, core::SpanHandle span = {});

private:
    friend class PoolExecutor;

    core::Executor& executor_;
};

/// An Asio executor that runs functions on a `core::Executor` under one operation context. It runs
/// them later, never inside `execute`. A cheap value that meets the requirements of
/// `asio::any_io_executor`.
class PoolExecutor {
public:
    PoolExecutor(PoolContext& pool, OperationContext context, core::SpanHandle span)
        : pool_{&pool},
          surroundings_{std::make_shared<const Surroundings>(std::move(context), std::move(span))} {
    }

    template <typename Function>
    void execute(Function&& function) const {
        pool_->executor_.post([function = std::decay_t<Function>(std::forward<Function>(function)),
                               surroundings = surroundings_]() mutable {
            const OperationContext::Scope scope{surroundings->context};
            const std::shared_ptr<void> entered = core::enter_span(surroundings->span);
            auto running = std::move(function); // destroyed before the scope
            running();
        });
    }

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return *pool_;
    }
    [[nodiscard]] static constexpr asio::execution::blocking_t query(
        asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    [[nodiscard]] static constexpr asio::execution::mapping_t query(
        asio::execution::mapping_t) noexcept {
        return asio::execution::mapping.thread;
    }
    [[nodiscard]] PoolExecutor require(asio::execution::blocking_t::never_t) const noexcept {
        return *this;
    }

    friend bool operator==(const PoolExecutor& a, const PoolExecutor& b) noexcept {
        return a.pool_ == b.pool_ && a.surroundings_ == b.surroundings_;
    }
    friend bool operator!=(const PoolExecutor& a, const PoolExecutor& b) noexcept {
        return !(a == b);
    }

private:
    struct Surroundings {
        Surroundings(OperationContext of, core::SpanHandle within)
            : context{std::move(of)}, span{std::move(within)} {}
        OperationContext context;
        core::SpanHandle span;
    };

    PoolContext* pool_;
    std::shared_ptr<const Surroundings> surroundings_;
};

} // namespace sessionq::dispatch
