// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <sessionq/received_message.hpp>

#include "client/browsing/ask_again.hpp"
#include "client/calls/pending.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::detail::client {

/// Waits for the next message of a browser. It peeks again and again, until a message comes or the
/// operation ends. `AskAgain` decides when it peeks. `BrowserCore::next` starts the wait. Bound to
/// the loop of its operation. The operation keeps the wait alive.
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

} // namespace sessionq::detail::client
