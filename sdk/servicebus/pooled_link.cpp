// SPDX-License-Identifier: MIT
#include "servicebus/pooled_link.hpp"

#include <utility>

namespace sessionq::detail::servicebus {

PooledLink::PooledLink(BrokerConnection& connection)
    : connection_{connection}, alive_{connection.handle()} {
    connection.pool().enter();
}

PooledLink::~PooledLink() {
    if (!is_orphaned()) {
        drop();
        connection_.pool().leave();
    }
}

amqp::ReceiverLink* PooledLink::make(const std::string& name) {
    link_ = connection_.make_link(name, session_);
    return link_.get();
}

void PooledLink::drop() {
    if (link_ != nullptr) {
        connection_.drop_link(std::exchange(link_, nullptr), session_);
    }
}

} // namespace sessionq::detail::servicebus
