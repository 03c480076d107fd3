#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/connection.hpp"
#include "server/peer.hpp"
#include "server/peer_place.hpp"
#include "server/peer_session.hpp"
#include "server/request.hpp"
#include "server/server_context.hpp"

namespace sessionq::server {

/// One client's connection with its sessions, links and rights. Bound to the host's loop.
/// Destroying it releases all that the client holds, without raising delivery counts.
class PeerConnection final : public amqp::ConnectionOwner {
public:
    using Ended = std::function<void(PeerConnection&)>;

    /// `ended` is called once, when the connection has ended. It destroys the connection.
    PeerConnection(ServerContext& context, amqp::ConnectionHost& host, amqp::StreamPtr stream,
                   Ended ended);
    ~PeerConnection() override;

    void on_open(const amqp::Open& open) override;
    void on_session(amqp::SessionPtr session) override;
    void on_writable() override;
    void on_turn() override;
    void on_closed(const amqp::Condition& condition) override;

    /// Stops sending messages for good.
    void quiesce();
    /// Returns true if the client holds no messages.
    [[nodiscard]] bool is_quiet() const;
    void close(const amqp::Condition& condition) { connection_.close(condition); }
    /// Ends the connection at once; `ended` follows.
    void abort(const amqp::Condition& condition) { connection_.abort(condition); }

    // For PeerSession.
    [[nodiscard]] Peer& peer() noexcept { return peer_; }
    [[nodiscard]] bool has_room_for_link() const;
    void count_link(bool comes) noexcept { comes ? ++link_count_ : --link_count_; }
    [[nodiscard]] bool may_use(const std::string& entity, bool for_management) const;
    Answer put_token(const Request& request);
    /// Detaches an existing link of this name and direction.
    void steal(std::string_view name, bool peer_sends);
    void remove(PeerSession& session);

private:
    [[nodiscard]] amqp::ConnectionOptions options(const ServerContext& context);
    [[nodiscard]] std::vector<PeerLink*> links() const;
    void on_claim_timer();
    void arm_claim_timer();
    void on_authenticated();
    [[nodiscard]] std::size_t memory() const noexcept;

    Peer peer_;
    const Ended ended_;
    std::size_t link_count_{0};
    bool is_authenticated_{false}; // authenticated by password or by an accepted claim
    timing::Timer claim_timer_;
    amqp::Connection connection_;
    PeerPlace place_;
    SendRoom room_;
    // last, so that links are destroyed before their engine
    std::vector<std::unique_ptr<PeerSession>> sessions_{};
};

} // namespace sessionq::server
