#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include <sessionq/error.hpp>

#include "client/operation.hpp"

namespace sessionq::client {

/// An operation that another thread waits for.
template <typename T>
class BlockingPending final : public Pending<T> {
public:
    using Pending<T>::Pending;

    [[nodiscard]] core::Result<T> wait() {
        std::unique_lock lock{mutex_};
        answered_.wait(lock, [this] { return answer_.has_value(); });
        return std::move(*answer_);
    }

private:
    void deliver(core::Result<T> answer) override {
        const std::lock_guard lock{mutex_};
        answer_.emplace(std::move(answer));
        answered_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable answered_;
    std::optional<core::Result<T>> answer_;
};

/// Runs the operation and waits for its answer, until its deadline. Throws a failure.
template <typename T>
T block(Operation<T> operation) {
    if (ReceiveThread::on_any()) {
        throw Error{Errc::invalid_state,
                    "a blocking call on a receive thread, where nothing may wait"};
    }
    auto pending = std::make_shared<BlockingPending<T>>(operation.loop, operation.deadline);
    pending->watch(std::move(operation.context));
    launch<T>(pending, std::move(operation.start));
    return pending->wait().take_or_throw();
}

} // namespace sessionq::client
