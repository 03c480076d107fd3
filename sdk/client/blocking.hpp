#pragma once

#include <future>

#include <sessionq/error.hpp>

#include "client/public_call.hpp"

namespace sessionq::client {

/// An operation that another thread waits for.
template <typename T>
class BlockingPending final : public Pending<T> {
public:
    using Pending<T>::Pending;

    [[nodiscard]] core::Result<T> wait() { return answer_.get_future().get(); }

private:
    void deliver(core::Result<T> answer) override { answer_.set_value(std::move(answer)); }

    std::promise<core::Result<T>> answer_;
};

/// Runs the call and waits for its answer, until its deadline.
template <typename T, typename R>
R block(PublicCall<T, R> call) {
    if (!call.operation) {
        return call.finish(T{});
    }
    if (ReceiveThread::on_any()) {
        throw Error{Errc::invalid_state,
                    "a blocking call on a receive thread, where nothing may wait"};
    }
    Operation<T>& operation = *call.operation;
    auto pending = std::make_shared<BlockingPending<T>>(operation.loop, operation.deadline);
    pending->watch(std::move(operation.context));
    launch<T>(pending, std::move(operation.start));
    return call.finish(pending->wait());
}

template <typename T>
Returned<T> block(Operation<T> operation) {
    return block(PublicCall<T>{std::move(operation)});
}

} // namespace sessionq::client
