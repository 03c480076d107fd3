// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "amqp/admission.hpp"
#include "amqp/connection.hpp"
#include "core/event_loop.hpp"
#include "server/memory_book.hpp"
#include "server/server_context.hpp"

namespace sessionq::server {

/// A connection's place at its server: counted from the start, and lost when a bound is met. Bound
/// to the loop.
class PeerPlace final : private amqp::Admission::Guest, private MemoryBook::Account {
public:
    /// Ends the connection soon if the server has no place for it.
    PeerPlace(ServerContext& context, core::EventLoop& loop, amqp::Connection& connection);

    /// The peer has opened.
    void step() noexcept { context_.admission.step(*this); }
    /// The peer has proved a right.
    void trust() noexcept;
    /// Counts the memory that the connection takes, with `beside` bytes of its owner. May end
    /// connections.
    void count(std::size_t beside);

    /// Returns true once the peer has proved a right.
    [[nodiscard]] bool is_trusted() const noexcept { return is_trusted_; }
    /// Returns true once the place is lost. The connection ends, and its owner releases the
    /// sessions that it keeps for the peer.
    [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

private:
    void give_way() override;
    void evict(MemoryBook::Bound bound) override;
    std::size_t trim() noexcept override;
    void lose(const std::string& bound);

    ServerContext& context_;
    core::EventLoop& loop_;
    amqp::Connection& connection_;
    std::size_t beside_{0};
    bool is_trusted_{false};
    bool is_lost_{false};
};

} // namespace sessionq::server
