// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "client/calls/pending.hpp"
#include "client/connecting/client_meters.hpp"
#include "client/sending/send_retry.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::detail::client {

class WaitingTries;

/// Sends a request, and sends it again after a failure. It stops when `SendRetry` wants no further
/// try, or when the operation is given up. `SenderCore` makes a `RetryingSend` for each send if the
/// sender may retry. Lives on the loop. The request under way keeps it alive. Between two tries,
/// `WaitingTries` keeps it alive.
class RetryingSend final : public std::enable_shared_from_this<RetryingSend> {
public:
    using SequenceNumbers = std::vector<std::int64_t>;

    RetryingSend(ports::Endpoint& endpoint, WaitingTries& waiting, ports::SendRequest request,
                 SendRetry retry, PendingPtr<SequenceNumbers> pending, ClientMeters& meters);

    void begin();
    /// Ends the send with `cancelled`, because the client is being closed.
    void end();

private:
    void try_once();
    void answered(core::Result<SequenceNumbers> answer);
    void give_up();

    ports::Endpoint& endpoint_;
    WaitingTries& waiting_;
    const ports::SendRequest request_;
    SendRetry retry_;
    const PendingPtr<SequenceNumbers> pending_;
    ClientMeters& meters_;
    ports::RequestId asked_{0};
    timing::Timer timer_; // the wait before the next try
};

/// Keeps the sends of a receive thread that wait for their next try. Each `EndpointThread` has one.
/// Outlives the tasks of its loop.
class WaitingTries {
public:
    void add(std::shared_ptr<RetryingSend> send) { sends_.insert(std::move(send)); }
    void remove(const std::shared_ptr<RetryingSend>& send) { sends_.erase(send); }

    /// Ends all waiting sends at once, because the client is being closed.
    void end_all();

private:
    std::unordered_set<std::shared_ptr<RetryingSend>> sends_{};
};

} // namespace sessionq::detail::client
