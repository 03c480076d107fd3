#include <sessionq/client.hpp>

#include <utility>

#include <sessionq/local_broker.hpp>

#include "client/broker_host.hpp"
#include "client/client_core.hpp"
#include "in_process/endpoint.hpp"

namespace sessionq {

Client::Client(std::shared_ptr<client::ClientCore> core) noexcept : core_{std::move(core)} {}

Client Client::in_process(const LocalBroker& broker, ClientOptions options) {
    const std::shared_ptr<client::BrokerHost>& host = broker.host();
    const std::shared_ptr<broker::Broker> engine{host, &host->broker()};
    return Client{std::make_shared<client::ClientCore>(
        options, [engine](core::EventLoop& loop) -> ports::EndpointPtr { return std::make_unique<in_process::Endpoint>(engine, loop); })};
}

const ClientOptions& Client::options() const noexcept { return core_->options(); }

} // namespace sessionq
