// SPDX-License-Identifier: MIT
#include "server/server.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/uuid.hpp"
#include "server/conditions.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::server {
namespace {

constexpr Duration drain_step = std::chrono::milliseconds{20};
constexpr Duration close_time = std::chrono::seconds{2};

} // namespace

Server::Server(broker::Broker& broker, core::EventLoop& loop, asio::io_context& io,
               AccessPolicy access, Limits limits, std::shared_ptr<MessageLocks> message_locks)
    : loop_{loop},
      context_{.broker = broker,
               .container = "sessionqd-" + core::Uuid::make().to_string(),
               .access = std::move(access),
               .limits = limits,
               .message_locks = std::move(message_locks)},
      host_{loop, io},
      pace_{context_.broker.journal(), loop, host_.turns()},
      drain_timer_{timing::Timer::calling<&Server::check_drained>(this)} {}

Server::~Server() {
    loop_.timers().cancel(drain_timer_);
    acceptors_.clear();
    connections_.clear();
}

core::Result<std::uint16_t> Server::listen(const amqp::ListenSettings& settings) {
    auto acceptor = std::make_unique<amqp::Acceptor>(
        host_, context_.admission, [this](amqp::StreamPtr stream) { serve(std::move(stream)); });
    auto port = acceptor->listen(settings);
    if (port) {
        acceptors_.push_back(std::move(acceptor));
    }
    return port;
}

void Server::serve(amqp::StreamPtr stream) {
    connections_.push_back(std::make_unique<PeerConnection>(
        context_, host_, std::move(stream), [this](PeerConnection& over) {
            const auto found =
                std::ranges::find(connections_, &over, &std::unique_ptr<PeerConnection>::get);
            const std::unique_ptr<PeerConnection> last_hold = std::move(*found);
            connections_.erase(found);
        }));
}

void Server::change_keys(AccessKeys keys) {
    std::set<std::string> lost;
    for (const auto& [name, key] : context_.access.keys) {
        const auto kept = keys.find(name);
        if (kept == keys.end() || kept->second != key) {
            lost.insert(name);
        }
    }
    context_.access.keys = std::move(keys);
    for (const auto& connection : connections_) {
        connection->keys_lost(lost);
    }
}

std::string Server::describe() const {
    return std::to_string(connections_.size()) + " connections and " +
           std::to_string(context_.admission.newcomers()) + " peers without a claim; they take " +
           std::to_string(context_.memory.all() >> 10U) + " KiB, " +
           std::to_string(context_.memory.unclaimed() >> 10U) + " KiB of it without a claim\n" +
           context_.strikes.describe();
}

void Server::drain(Duration longest, std::function<void()> done) {
    drained_ = std::move(done);
    acceptors_.clear();
    for (const auto& connection : connections_) {
        connection->quiesce();
    }
    drain_until_ = loop_.now() + longest;
    loop_.timers().arm(drain_timer_, loop_.now());
}

void Server::check_drained() {
    const TimePoint now = loop_.now();
    const bool is_quiet = std::ranges::all_of(
        connections_, [](const auto& connection) { return connection->is_quiet(); });
    if (!is_closing_ && (is_quiet || now >= drain_until_)) {
        is_closing_ = true;
        close_until_ = now + close_time;
        for (const auto& connection : connections_) {
            connection->close(
                make_condition(condition::connection_forced, "The broker is being stopped."));
        }
    }
    if (is_closing_ && (connections_.empty() || now >= close_until_)) {
        connections_.clear();
        std::exchange(drained_, nullptr)();
        return;
    }
    loop_.timers().arm(drain_timer_, now + drain_step);
}

} // namespace sessionq::server
