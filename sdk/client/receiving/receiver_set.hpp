// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "client/receiving/session_receiver_core.hpp"

namespace sessionq::client {

/// Owns the receivers that live on a thread. Outlives the tasks of that thread's loop.
class ReceiverSet {
public:
    /// Starts a receiver; returns the status of it that other threads may read.
    std::shared_ptr<SessionStatus> add(std::unique_ptr<SessionReceiverCore> receiver);

    /// Destroys it by a later turn, because it may be inside an event of its link.
    void retire(SessionReceiverCore& receiver);

    /// The client is being closed: ends and destroys all of them, at once.
    void end_all();

private:
    std::unordered_map<const SessionReceiverCore*, std::unique_ptr<SessionReceiverCore>> open_;
    std::vector<std::unique_ptr<SessionReceiverCore>> retired_;
};

} // namespace sessionq::client
