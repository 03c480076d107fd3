// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amqp/connection.hpp"
#include "server/peer.hpp"
#include "server/peer_place.hpp"
#include "server/peer_session.hpp"
#include "server/request.hpp"
#include "server/server_context.hpp"

namespace sessionq::server {

/// One client's connection with its sessions, links and rights. Bound to the host's loop.
/// Destroying it releases the client's sessions, without raising delivery counts.
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

    /// Stops sending messages, and asking for them, for good.
    void quiesce();
    /// As `Claims` has it.
    void keys_lost(const std::set<std::string>& names);
    /// Returns true if the client holds no messages, and all that was taken from it is answered.
    [[nodiscard]] bool is_quiet() const;
    void close(const amqp::Condition& condition) { connection_.close(condition); }
    /// Ends the connection at once; `ended` follows.
    void abort(const amqp::Condition& condition) { connection_.abort(condition); }

    // For PeerSession.
    [[nodiscard]] Peer& peer() noexcept { return peer_; }
    [[nodiscard]] bool has_room_for_link() const;
    void add(PeerLink& link) { links_by_name_.emplace(key_of(link), &link); }
    void remove(PeerLink& link) { links_by_name_.erase(key_of(link)); }
    [[nodiscard]] bool may_use(const std::string& entity, Rights any_of) const;
    Answer put_token(const Request& request);
    /// Detaches an existing link of this name and direction.
    void steal(std::string_view name, bool peer_sends);
    void remove(PeerSession& session);

private:
    [[nodiscard]] amqp::ConnectionOptions options(const ServerContext& context);
    using LinkKey = std::pair<std::string_view, bool>; // name, and whether the peer sends
    [[nodiscard]] static LinkKey key_of(const PeerLink& link) noexcept {
        return {link.name(), link.peer_sends()};
    }
    [[nodiscard]] bool names_entity(std::string_view audience) const;
    void tell_refused(std::string_view code, std::string_view what, std::string_view why) const;
    void on_claim_timer();
    void arm_claim_timer();
    void end_uncovered_links();
    /// Destroys links and sessions, as many as one go takes.
    void release();
    [[nodiscard]] std::size_t memory() const noexcept;

    Peer peer_;
    const Ended ended_;
    std::map<LinkKey, PeerLink*> links_by_name_{};
    timing::Timer claim_timer_;
    amqp::Connection connection_;
    PeerPlace place_;
    SendRoom room_;
    bool is_open_{false}; ///< the peer's open came
    // last, so that links are destroyed before their engine
    std::vector<std::unique_ptr<PeerSession>> sessions_{};
};

} // namespace sessionq::server
