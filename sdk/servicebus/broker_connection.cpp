#include "servicebus/broker_connection.hpp"

#include <utility>

#include "servicebus/conditions.hpp"

namespace sessionq::servicebus {
namespace {

amqp::ClientConnectionOptions options_of(const EndpointSettings& settings) {
    return {.hosts = {settings.target},
            .operation_timeout = settings.operation_timeout,
            .idle_timeout = settings.idle_timeout,
            .backoff = settings.backoff,
            .seed = settings.seed,
            .dial = settings.dial};
}

} // namespace

BrokerConnection::BrokerConnection(amqp::ConnectionHost& host, const EndpointSettings& settings)
    : loop_{host.loop()},
      operation_timeout_{settings.operation_timeout},
      connection_{host, options_of(settings), *this},
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

void BrokerConnection::manage(ports::RequestId id, const std::string& entity, Request request,
                              Deadline deadline, RequestChannel::Handler handler) {
    const std::string node = entity + "/$management";
    auto& channel = management_[node];
    if (channel == nullptr) {
        channel = std::make_unique<RequestChannel>(
            loop_, node, [this, node](RequestChannel::EngineHandler ready) {
                when_usable(node, std::move(ready));
            });
    }
    channel->request(id, std::move(request), deadline,
                     [this, node, handler = std::move(handler)](core::Result<Response> answer) {
                         if (answer.ok() ? answer.value().status == 401
                                         : answer.failure().code == Errc::unauthorized) {
                             rejected(node);
                         }
                         handler(std::move(answer));
                     });
}

void BrokerConnection::give_up(ports::RequestId id) {
    for (const auto& [node, channel] : management_) {
        channel->give_up(id);
    }
}

BrokerConnection::PooledLink BrokerConnection::make_link(const std::string& name) {
    PooledLink made;
    while (const auto chosen = pool_.choose()) {
        amqp::Session& session = *sessions_.at(*chosen);
        made = {.link = session.is_gone() ? nullptr : session.make_receiver(name),
                .session = *chosen};
        if (made.link != nullptr) {
            pool_.join(made.session);
            return made;
        }
        pool_.shut(*chosen);
    }
    amqp::Engine* const engine = connection_.engine();
    amqp::SessionPtr begun = engine != nullptr ? engine->begin_session() : nullptr;
    if (begun == nullptr) {
        return {};
    }
    begun->set_listener(this);
    made = {.link = begun->make_receiver(name), .session = pool_.add()};
    sessions_.emplace(made.session, std::move(begun));
    pool_.join(made.session);
    return made;
}

void BrokerConnection::drop_link(PooledLink& link) {
    if (link.link == nullptr) {
        return;
    }
    const bool is_gone = link.link->is_gone();
    link.link.reset();
    if (is_gone) {
        pool_.shut(link.session);
    }
    if (!pool_.part(link.session)) {
        return;
    }
    auto session = sessions_.extract(link.session);
    if (is_gone) {
        ended_.push_back(std::move(session.mapped()));
        loop_.post([handle = anchor_.handle()] {
            if (BrokerConnection* const self = handle.get()) {
                self->ended_.clear();
            }
        });
    }
}

std::optional<Failure> BrokerConnection::on_connected(const amqp::Open& peer) {
    pool_.opened(peer.channel_max);
    return std::nullopt;
}

void BrokerConnection::on_disconnected(const Failure& why) { authorizer_.reset(why); }

Failure BrokerConnection::explain(const amqp::Condition& condition, std::string what) {
    return to_failure(condition, std::move(what));
}

void BrokerConnection::on_sender(amqp::SenderLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}
void BrokerConnection::on_receiver(amqp::ReceiverLinkPtr link) {
    link->refuse({.name = "amqp:not-allowed", .text = "a client serves no links"});
}

} // namespace sessionq::servicebus
