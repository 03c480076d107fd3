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

namespace sessionq::dispatch {

class PoolExecutor;

/// The Asio side of an executor of ours: what Asio's timers and sockets hang their services on when
/// coroutines run there. A timer waits on one thread of Asio's that is started with the first of
/// them; what waits is resumed on `executor`.
///
/// Destroyed before `executor` is, and after every coroutine on it has ended or was given up:
/// destruction destroys those that still wait on a timer or socket.
class PoolContext final : public asio::execution_context {
public:
    explicit PoolContext(core::Executor& executor) noexcept : executor_{executor} {}

    /// An executor for one coroutine: each of its resumptions runs under `context`, which is
    /// cleared after (R21). Thread-safe.
    [[nodiscard]] PoolExecutor executor(OperationContext context);

private:
    friend class PoolExecutor;

    core::Executor& executor_;
};

/// An Asio executor that runs functions on an executor of ours, always later (never inside
/// `execute`), under one operation context. A cheap value; meets the requirements of
/// `asio::any_io_executor`.
class PoolExecutor {
public:
    PoolExecutor(PoolContext& pool, OperationContext context)
        : pool_{&pool}, context_{std::make_shared<const OperationContext>(std::move(context))} {}

    template <typename Function>
    void execute(Function&& function) const {
        pool_->executor_.post([function = std::decay_t<Function>(std::forward<Function>(function)),
                               context = context_]() mutable {
            const OperationContext::Scope scope{*context};
            auto running = std::move(function); // ends before the scope does
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
        return a.pool_ == b.pool_ && a.context_ == b.context_;
    }
    friend bool operator!=(const PoolExecutor& a, const PoolExecutor& b) noexcept {
        return !(a == b);
    }

private:
    PoolContext* pool_;
    std::shared_ptr<const OperationContext> context_;
};

} // namespace sessionq::dispatch
