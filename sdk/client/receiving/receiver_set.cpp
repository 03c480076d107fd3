// SPDX-License-Identifier: MIT
#include "client/receiving/receiver_set.hpp"

#include <utility>

namespace sessionq::client {

std::shared_ptr<SessionStatus> ReceiverSet::add(std::unique_ptr<SessionReceiverCore> receiver) {
    SessionReceiverCore& added = *receiver;
    open_.emplace(&added, std::move(receiver));
    added.look(); // may retire it
    return added.status();
}

void ReceiverSet::retire(SessionReceiverCore& receiver) {
    auto owned = open_.extract(&receiver);
    if (retired_.empty()) {
        receiver.status()->loop().post([this] { retired_.clear(); });
    }
    retired_.push_back(std::move(owned.mapped()));
}

void ReceiverSet::end_all() {
    while (!open_.empty()) {
        open_.begin()->second->on_lost(
            Failure{.code = Errc::cancelled, .detail = "the client is closed"});
    }
    retired_.clear();
}

} // namespace sessionq::client
