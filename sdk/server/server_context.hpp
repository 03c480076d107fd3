// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "amqp/admission.hpp"
#include "broker/broker.hpp"
#include "server/claims.hpp"
#include "server/limit_strikes.hpp"
#include "server/limits.hpp"
#include "server/memory_book.hpp"
#include "server/message_locks.hpp"

namespace sessionq::server {

/// State that all connections of a server share. Outlives them.
struct ServerContext {
    broker::Broker& broker;
    std::string container{}; ///< the container id in the server's open
    AccessPolicy access{};
    Limits limits{};
    amqp::Admission admission{limits.admission};
    MemoryBook memory{limits.memory};
    LimitStrikes strikes{};
    std::shared_ptr<MessageLocks> message_locks{std::make_shared<MessageLocks>()};
};

} // namespace sessionq::server
