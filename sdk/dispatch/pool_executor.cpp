// SPDX-License-Identifier: MIT
#include "dispatch/pool_executor.hpp"

#include <asio/any_io_executor.hpp>

namespace sessionq::dispatch {

static_assert(asio::execution::is_executor_v<PoolExecutor>);
static_assert(std::is_constructible_v<asio::any_io_executor, PoolExecutor>);

PoolExecutor PoolContext::executor(OperationContext context, core::SpanHandle span) {
    return {*this, std::move(context), std::move(span)};
}

} // namespace sessionq::dispatch
