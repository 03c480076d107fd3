// SPDX-License-Identifier: MIT
#include "server/peer_connection.hpp"

#include <algorithm>

#include "amqp/codec/encoder.hpp"
#include "amqp/peek_wait.hpp"
#include "core/log.hpp"
#include "core/log_events.hpp"
#include "core/peer_words.hpp"
#include "server/address.hpp"
#include "server/conditions.hpp"
#include "server/empty_feed.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::server {
namespace {

// JMS clients set a delivery delay only where the broker offers this.
constexpr const char* delays = "DELAYED_DELIVERY";
constexpr std::uint8_t symbol_code = 0xa3;

} // namespace

PeerConnection::PeerConnection(ServerContext& context, amqp::ConnectionHost& host,
                               amqp::StreamPtr stream, Ended ended)
    : peer_{context.broker,         host.loop(),     context.access, context.limits, host.turns(),
            *context.message_locks, context.strikes, context.memory},
      ended_{std::move(ended)},
      claim_timer_{timing::Timer::calling<&PeerConnection::on_claim_timer>(this)},
      connection_{host, std::move(stream), options(context), *this},
      place_{context, host.loop(), connection_},
      room_{connection_, context.limits.memory.connection} {
    peer_.room = &room_;
}

PeerConnection::~PeerConnection() {
    peer_.locks.retire_unlinked(peer_.now());
    peer_.loop.timers().cancel(claim_timer_);
}

amqp::ConnectionOptions PeerConnection::options(const ServerContext& context) {
    amqp::ConnectionOptions made;
    made.engine.is_server = true;
    made.engine.most_at_once = context.limits.told_at_once;
    const auto idle_time_out =
        std::chrono::duration_cast<std::chrono::milliseconds>(context.limits.idle_time / 2);
    made.engine.open = {.container = context.container,
                        .offered_capabilities = amqp::encode(amqp::Array{
                            .element = symbol_code, .items = {amqp::Value::symbol(delays)}}),
                        .properties = amqp::encode(amqp::Value::map(
                            {{amqp::Value::symbol(std::string{amqp::peek_wait}), true}})),
                        .idle_time_out = static_cast<std::uint32_t>(idle_time_out.count()),
                        .max_frame_size = context.limits.frame_bytes,
                        .channel_max = context.limits.channel_max};
    made.engine.sasl =
        amqp::make_sasl_server([this](std::string_view user, std::string_view password) {
            const bool is_right = peer_.claims.log_in(user, password);
            if (is_right) {
                place_.trust();
            } else {
                connection_.pause(peer_.limits.pause_after_guess);
            }
            return is_right;
        });
    made.open_time_out = context.limits.handshake_time;
    made.most_unsent = context.limits.unsent_bytes;
    made.most_unsent_while_reading = context.limits.unsent_bytes;
    return made;
}

void PeerConnection::on_open(const amqp::Open& open) {
    core::log(LogLevel::debug, "server", "connection of '", core::peer_words(open.container),
              "' from ", connection_.peer());
    is_open_ = true;
    place_.step();
    arm_claim_timer();
}

void PeerConnection::tell_refused(std::string_view code, std::string_view what,
                                  std::string_view why) const {
    core::log_event(LogLevel::warning, "server", core::events::peer_refused, {{"code", code}}, what,
                    " from ", connection_.peer(), " was refused: ", core::peer_words(why));
}

void PeerConnection::on_session(amqp::SessionPtr session) {
    if (!place_.is_trusted() && sessions_.size() == peer_.limits.sessions_before_claim) {
        close(make_condition(condition::resource_limit_exceeded,
                             "this connection has begun more AMQP sessions than it may before a "
                             "token is accepted"));
        return;
    }
    sessions_.push_back(std::make_unique<PeerSession>(*this, std::move(session)));
}

void PeerConnection::on_writable() { room_.resume(); }

void PeerConnection::on_turn() {
    if (!place_.is_lost()) {
        place_.count(memory());
    }
    if (place_.is_lost()) {
        release();
    }
}

// Until the connection ends, each turn releases more.
void PeerConnection::release() {
    for (std::size_t left = peer_.limits.released_at_once; left != 0 && !sessions_.empty();) {
        const std::size_t released = sessions_.back()->release(left);
        left -= released;
        if (released == 0) {
            sessions_.pop_back();
            --left;
        }
    }
    if (!sessions_.empty()) {
        connection_.turn_again();
    }
}

// Estimates: the objects, with the memory that the engine and the broker keep beside them.
std::size_t PeerConnection::memory() const noexcept {
    constexpr std::size_t connection_bytes = 8192;
    constexpr std::size_t session_bytes = 4096;
    constexpr std::size_t link_bytes = 2048;
    constexpr std::size_t message_bytes = 256; // sent and not settled
    constexpr std::size_t answer_bytes = 1024; // that waits for a commit
    return connection_bytes + sessions_.size() * session_bytes +
           links_by_name_.size() * link_bytes + room_.unsettled() * message_bytes +
           peer_.commits.waiting() * answer_bytes +
           peer_.held_requests * peer_.limits.held_request_bytes + 4 * peer_.waiting_request_bytes +
           peer_.answer_bytes + peer_.waiting_batch_bytes + peer_.claims.bytes();
}

void PeerConnection::on_closed(const amqp::Condition& condition) {
    if (!is_open_ && !condition.empty() && condition.name != condition::connection_forced) {
        tell_refused(condition.name, "a connection", condition.text);
    } else {
        core::log(LogLevel::debug, "server", "connection from ", connection_.peer(), " ended",
                  condition.empty() ? "" : ": ", core::peer_words(condition.name));
    }
    const Ended ended = ended_; // a copy, because the call destroys this object
    ended(*this);
}

void PeerConnection::quiesce() { peer_.is_quiescing = true; }

// A send that was stored and not answered would be sent again.
bool PeerConnection::is_quiet() const {
    return room_.unsettled() == 0 && peer_.unconfirmed == 0 && peer_.waiting_batch_bytes == 0 &&
           peer_.commits.waiting() == 0;
}

bool PeerConnection::has_room_for_link() const {
    return links_by_name_.size() <
           (place_.is_trusted() ? peer_.limits.links : peer_.limits.links_before_claim);
}

bool PeerConnection::may_use(const std::string& entity, Rights any_of) const {
    return peer_.claims.covers(entity, any_of, peer_.loop.wall_now());
}

Answer PeerConnection::put_token(const Request& request) {
    if (request.operation() != "put-token") {
        return {.status = 400,
                .description = "$cbs supports put-token only",
                .condition = std::string{condition::not_implemented}};
    }
    const std::string_view audience = request.text("name");
    const auto token = request.body.bytes();
    if (audience.empty() || !token) {
        return {.status = 400,
                .description = "put-token needs an audience and a token",
                .condition = std::string{condition::invalid_field}};
    }
    const bool is_full = peer_.claims.size() >= peer_.limits.claims;
    if (audience.size() > peer_.limits.audience_bytes || (is_full && !peer_.claims.has(audience))) {
        return {.status = 403,
                .description = "the audience is longer than " +
                               std::to_string(peer_.limits.audience_bytes) +
                               " bytes, or the connection has " +
                               std::to_string(peer_.limits.claims) + " claims",
                .condition = std::string{condition::resource_limit_exceeded}};
    }
    Claims::Answer judged = peer_.claims.put_token(audience, *token, peer_.loop.wall_now());
    if (judged.condition.empty()) {
        place_.trust();
        end_uncovered_links(); // the claim may give fewer rights than the one before
    }
    arm_claim_timer();
    if (!judged.condition.empty()) {
        connection_.pause(peer_.limits.pause_after_guess);
        tell_refused(judged.condition, "a token for '" + core::peer_words(audience) + "'",
                     judged.description);
    }
    if (judged.condition.empty() && !names_entity(audience)) {
        amqp::Condition why = entity_not_found(path_of(audience));
        return {
            .status = 404, .description = std::move(why.text), .condition = std::move(why.name)};
    }
    return {.status = judged.status,
            .description = std::move(judged.description),
            .condition = std::move(judged.condition)};
}

// Whether an audience is the whole namespace or an entity of it.
bool PeerConnection::names_entity(std::string_view audience) const {
    if (path_of(audience).empty()) {
        return true;
    }
    const auto address = parse_address(audience);
    return address && (address->kind == NodeAddress::Kind::claims ||
                       peer_.broker.find(owner_of_transfers(address->entity)).ok());
}

void PeerConnection::arm_claim_timer() {
    if (!place_.is_trusted()) {
        if (!claim_timer_.is_armed()) {
            peer_.loop.timers().arm(claim_timer_, peer_.loop.now() + peer_.limits.claim_time);
        }
        return;
    }
    const auto next = peer_.claims.next_expiry();
    if (!next || *next == WallTime::max()) {
        peer_.loop.timers().cancel(claim_timer_);
    } else {
        peer_.loop.timers().arm(
            claim_timer_, Deadline::after(*next - peer_.loop.wall_now(), peer_.loop.now()).time());
    }
}

void PeerConnection::on_claim_timer() {
    if (!place_.is_trusted()) {
        close(make_condition(condition::unauthorized_access, "no valid token arrived in time"));
        return;
    }
    peer_.claims.drop_expired(peer_.loop.wall_now());
    end_uncovered_links();
    arm_claim_timer();
}

void PeerConnection::keys_lost(const std::set<std::string>& names) {
    peer_.claims.keys_lost(names, peer_.loop.wall_now());
    end_uncovered_links();
    arm_claim_timer();
}

void PeerConnection::end_uncovered_links() {
    std::vector<PeerLink*> uncovered;
    for (const auto& [key, link] : links_by_name_) {
        if (!link->entity().empty() && !may_use(link->entity(), link->needs())) {
            uncovered.push_back(link);
        }
    }
    for (PeerLink* link : uncovered) {
        link->end(make_condition(condition::unauthorized_access,
                                 may_use(link->entity(), Rights::all())
                                     ? text_of_missing(link->needs(), link->entity())
                                     : "ExpiredToken: The claim for '" + link->entity() +
                                           "' has expired."));
    }
}

void PeerConnection::steal(std::string_view name, bool peer_sends) {
    const auto found = links_by_name_.find({name, peer_sends});
    if (found != links_by_name_.end()) {
        found->second->end(
            make_condition(condition::link_stolen, "a link of the same name was attached"));
    }
}

void PeerConnection::remove(PeerSession& session) {
    const auto found = std::ranges::find(sessions_, &session, &std::unique_ptr<PeerSession>::get);
    const std::unique_ptr<PeerSession> last_hold = std::move(*found);
    sessions_.erase(found);
}

} // namespace sessionq::server
