// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "client/calls/pending.hpp"

namespace sessionq::simulation {

/// An operation of the product's client for a caller in virtual time, who cannot block.
template <typename T>
class SimPending final : public detail::client::Pending<T> {
public:
    using Told = std::function<void(core::Result<T>)>;

    SimPending(core::EventLoop& loop, Deadline deadline, Told told)
        : detail::client::Pending<T>{loop, deadline}, told_{std::move(told)} {}

private:
    void deliver(core::Result<T> answer) override {
        std::exchange(told_, nullptr)(std::move(answer));
    }

    Told told_;
};

/// Begins as a blocking call does. Calls `told` on the loop.
template <typename T>
void begin_operation(core::EventLoop& loop, Deadline deadline, std::stop_token stop,
                     detail::client::Start<T> start, typename SimPending<T>::Told told) {
    auto pending = std::make_shared<SimPending<T>>(loop, deadline, std::move(told));
    pending->watch(OperationContext{}.with_stop(std::move(stop)));
    detail::client::launch<T>(std::move(pending), std::move(start));
}

} // namespace sessionq::simulation
