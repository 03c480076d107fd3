// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <sessionq/received_message.hpp>

#include "client/browsing/ask_again.hpp"
#include "client/calls/pending.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::client {

/// Asks the broker for messages until there is one, or until the operation ends. `BrowserCore`
/// makes one for a peek that waits. It runs on the loop of its operation, and the operation keeps
/// it alive.
class BrowserWait : public std::enable_shared_from_this<BrowserWait> {
public:
    using Messages = std::vector<ReceivedMessage>;

    /// The endpoint outlives the operation.
    BrowserWait(ports::Endpoint& endpoint, ports::PeekRequest request,
                PendingPtr<Messages> pending);

    void start();

private:
    enum class Phase : std::uint8_t { asking, pausing, given_up };

    void ask();
    void on_answer(core::Result<Messages> answer);
    void give_up();

    ports::Endpoint& endpoint_;
    ports::PeekRequest request_;
    const PendingPtr<Messages> pending_;
    AskAgain spacing_{};
    TimePoint asked_{};
    Phase phase_{Phase::asking};
    ports::RequestId under_way_{0}; // while asking
    timing::Timer timer_{timing::Timer::calling<&BrowserWait::ask>(this)};
};

} // namespace sessionq::client
