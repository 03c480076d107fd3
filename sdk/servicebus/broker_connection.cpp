// SPDX-License-Identifier: MIT
#include "servicebus/broker_connection.hpp"

#include <utility>

#include "servicebus/conditions.hpp"
#include "servicebus/entity_codec.hpp"

namespace sessionq::detail::servicebus {
namespace {

amqp::ClientConnectionOptions options_of(const EndpointSettings& settings,
                                         core::ReceiveRoomPtr room) {
    return {.hosts = {settings.target},
            .operation_timeout = settings.operation_timeout,
            .idle_timeout = settings.idle_timeout,
            .write_idle_timeout = settings.write_idle_timeout,
            .on_idle = settings.on_idle,
            .backoff = settings.backoff,
            .seed = settings.seed,
            .room = std::move(room),
            .counts = settings.counts,
            .dial = settings.dial};
}

} // namespace

BrokerConnection::BrokerConnection(amqp::ConnectionHost& host, const EndpointSettings& settings,
                                   core::ReceiveRoomPtr room)
    : loop_{host.loop()},
      operation_timeout_{settings.operation_timeout},
      ended_{loop_},
      connection_{host, options_of(settings, std::move(room)), *this},
      authorizer_{loop_, settings} {}

BrokerConnection::~BrokerConnection() {
    management_.clear();
    authorizer_.reset({.code = Errc::cancelled, .detail = "the client is closed"});
    connection_.close();
}

void BrokerConnection::when_usable(const std::string& node, EngineHandler handler) {
    connection_.when_open([this, node, handler = std::move(handler)](
                              const core::Result<amqp::Engine*>& engine) mutable {
        if (engine.ok()) {
            authorizer_.when_granted(node, *engine.value(), std::move(handler));
        } else {
            handler(engine.failure());
        }
    });
}

void BrokerConnection::failed(const std::string& node, const Failure& why) {
    if (why.code == Errc::unauthorized) {
        authorizer_.rejected(node);
    }
}

void BrokerConnection::manage(ports::RequestId id, const std::string& entity, Request request,
                              Deadline deadline, RequestChannel::Handler handler) {
    const std::string node = entity + "/$management";
    offer_wait(request, open_properties_);
    auto& channel = management_[node];
    if (channel == nullptr) {
        channel = std::make_unique<RequestChannel>(
            loop_, node, [this, node](RequestChannel::EngineHandler ready) {
                when_usable(node, std::move(ready));
            });
    }
    channel->request(id, std::move(request), deadline,
                     [this, node, handler = std::move(handler)](core::Result<Response> answer) {
                         if (!answer.ok()) {
                             failed(node, answer.failure());
                         } else if (answer.value().status == 401) {
                             authorizer_.rejected(node);
                         }
                         handler(std::move(answer));
                     });
}

void BrokerConnection::give_up(ports::RequestId id) {
    for (const auto& [node, channel] : management_) {
        channel->give_up(id);
    }
}

amqp::ReceiverLinkPtr BrokerConnection::make_link(const std::string& name,
                                                  SessionPool::Id& session) {
    while (const auto chosen = pool_.choose()) {
        if (auto link = sessions_.at(*chosen)->make_receiver(name)) {
            pool_.join(session = *chosen);
            return link;
        }
        pool_.shut(*chosen);
    }
    amqp::SessionPtr begun = connection_.begin_session();
    if (begun == nullptr) {
        return nullptr;
    }
    begun->set_listener(this);
    auto link = begun->make_receiver(name);
    sessions_.emplace(session = pool_.add(), std::move(begun));
    pool_.join(session);
    return link;
}

void BrokerConnection::drop_link(amqp::ReceiverLinkPtr link, SessionPool::Id session) {
    const bool is_gone = link->is_gone();
    link.reset();
    if (is_gone) {
        pool_.shut(session);
    }
    if (!pool_.part(session)) {
        return;
    }
    const auto ended = sessions_.find(session);
    if (is_gone) {
        ended_.push([session = std::move(ended->second)]() mutable { session.reset(); });
    }
    sessions_.erase(ended);
}

std::optional<Failure> BrokerConnection::on_connected(const amqp::Open& peer) {
    pool_.opened(peer.channel_max);
    open_properties_ = peer.properties;
    return std::nullopt;
}

void BrokerConnection::on_disconnected(const Failure& why) { authorizer_.reset(why); }

Failure BrokerConnection::explain(const amqp::Condition& condition, std::string what) {
    return to_failure(condition, std::move(what));
}

} // namespace sessionq::detail::servicebus
