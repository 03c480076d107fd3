// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>

#include <sessionq/detail/handler_place.hpp>
#include <sessionq/operation_context.hpp>

#include "core/executor.hpp"
#include "core/tracing.hpp"

namespace sessionq::dispatch {

/// Gives handlers that are coroutines their place on `executor`, and keeps the companions.
///
/// Destroy it before `executor`, and after every coroutine on it has ended or was given up.
class CoroutineHost {
public:
    explicit CoroutineHost(core::Executor& executor) noexcept : executor_{executor} {}

    /// The place of one handler. Each job runs under `context`, which is cleared afterwards (R21),
    /// and within `span`, if there is one. Thread-safe.
    [[nodiscard]] detail::HandlerPlacePtr place(OperationContext context, core::SpanHandle span,
                                                std::stop_token stop);

private:
    class Place;

    core::Executor& executor_;
    std::mutex mutex_{};
    std::map<const void*, std::unique_ptr<detail::Companion>> companions_{}; // guarded by mutex_
};

} // namespace sessionq::dispatch
