// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>

#include "broker/queue.hpp"
#include "in_process/confirmations.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::in_process {

/// Peeks that wait for a message. The broker tells each when to look again; nothing polls. Answers
/// each once, with the messages there are, with none when its wait is over, or with the failure.
/// Bound to the loop.
class WaitingPeeks {
public:
    /// `confirmations` outlives this.
    WaitingPeeks(std::shared_ptr<TurnQueue> turns, Confirmations& confirmations);
    ~WaitingPeeks();
    WaitingPeeks(const WaitingPeeks&) = delete;
    WaitingPeeks& operator=(const WaitingPeeks&) = delete;

    ports::RequestId add(broker::QueuePtr queue, ports::PeekRequest request,
                         ports::PeekHandler handler);

    /// Ends a peek with `cancelled`. Other ids are ignored.
    void give_up(ports::RequestId id);
    /// Ends all with `cancelled`. Without this call, destroying it drops them.
    void cancel();

private:
    class Bell;
    struct Waiting;
    using WaitingPtr = std::unique_ptr<Waiting>;

    void look_again(ports::RequestId id, const Failure* deletion);
    void wait(Waiting& waiting);
    /// Takes a peek out, and the broker tells it nothing more. Null: it has been answered.
    [[nodiscard]] WaitingPtr take(ports::RequestId id);

    const std::shared_ptr<TurnQueue> turns_;
    Confirmations& confirmations_;
    std::map<ports::RequestId, WaitingPtr> all_;
    const core::Anchor<WaitingPeeks> anchor_{*this};
};

} // namespace sessionq::in_process
