// SPDX-License-Identifier: MIT
#include "server/peer_place.hpp"

#include "core/log.hpp"
#include "server/conditions.hpp"

namespace sessionq::server {
namespace {

constexpr std::size_t most_unread = std::size_t{256} << 10U;

} // namespace

PeerPlace::PeerPlace(ServerContext& context, core::EventLoop& loop, amqp::Connection& connection)
    : Account{context.memory}, context_{context}, loop_{loop}, connection_{connection} {
    const amqp::AdmissionLimits& limits = context_.admission.limits();
    switch (context_.admission.enter(*this, amqp::address_of(connection_.peer()))) {
    case amqp::Admission::Answer::welcome: break;
    case amqp::Admission::Answer::too_many:
        lose("the broker has " + std::to_string(limits.connections) + " connections");
        break;
    case amqp::Admission::Answer::too_many_from_address:
        lose("an address has " + std::to_string(limits.connections_per_address) + " connections");
        break;
    }
}

void PeerPlace::trust() noexcept {
    is_trusted_ = true;
    context_.admission.trust(*this);
    claim();
}

void PeerPlace::count(std::size_t beside) {
    beside_ = beside;
    if (!is_trusted_ && connection_.received() > context_.limits.bytes_before_claim) {
        lose("a peer has sent " + std::to_string(context_.limits.bytes_before_claim) +
             " bytes and no valid token");
        return;
    }
    context_.memory.set(*this, connection_.memory() + beside, loop_.now());
}

void PeerPlace::give_way() {
    lose("too many connections have not proved a right; the oldest gives way");
}

void PeerPlace::evict(MemoryBook::Bound bound) { lose(describe(bound, context_.limits.memory)); }

std::size_t PeerPlace::trim() noexcept {
    connection_.trim();
    return connection_.memory() + beside_;
}

// A client that has proved a right is told. A stranger is cut off, and so is a client with much
// that it has not read: it would not read the reason either, and it would keep its memory.
void PeerPlace::lose(const std::string& bound) {
    is_lost_ = true;
    context_.admission.dismiss(*this);
    if (const auto line = context_.strikes.note(bound, loop_.now())) {
        core::log(LogLevel::warning, "server", *line, "; the last peer is ", connection_.peer());
    }
    const amqp::Condition why = make_condition(condition::resource_limit_exceeded, bound);
    if (is_trusted_ && connection_.memory() <= most_unread) {
        connection_.close(why);
    } else {
        connection_.abort(why);
    }
}

} // namespace sessionq::server
