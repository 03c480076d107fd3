// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "servicebus/broker_connection.hpp"

namespace sessionq::detail::servicebus {

/// A place for the link of one session on a connection, and the link once it is made. Destroying it
/// detaches and frees the place. May outlive the connection.
class PooledLink {
public:
    explicit PooledLink(BrokerConnection& connection);
    ~PooledLink();
    PooledLink(const PooledLink&) = delete;
    PooledLink& operator=(const PooledLink&) = delete;

    /// Only while it is not orphaned.
    [[nodiscard]] BrokerConnection& connection() const noexcept { return connection_; }
    /// The connection was destroyed.
    [[nodiscard]] bool is_orphaned() const noexcept { return alive_.get() == nullptr; }

    /// Null: the peer allows no more links.
    [[nodiscard]] amqp::ReceiverLink* make(const std::string& name);
    /// Detaches. The place is kept.
    void drop();
    [[nodiscard]] amqp::ReceiverLink& link() const noexcept { return *link_; }
    /// Counts the messages that came over the link. Only once it is made.
    [[nodiscard]] const core::ReceiveSharePtr& share() const noexcept {
        return link_->session().share();
    }
    [[nodiscard]] bool is_gone() const noexcept { return link_ == nullptr || link_->is_gone(); }

private:
    BrokerConnection& connection_; // while `alive_` says so
    const core::WeakHandle<BrokerConnection> alive_;
    amqp::ReceiverLinkPtr link_{};
    SessionPool::Id session_{0};
};

} // namespace sessionq::detail::servicebus
