#include <sessionq/client.hpp>

#include <future>
#include <utility>

#include <sessionq/local_broker.hpp>

#include "client/broker_host.hpp"
#include "client/client_core.hpp"
#include "core/random.hpp"
#include "groups/endpoint.hpp"
#include "in_process/endpoint.hpp"
#include "servicebus/connection_string.hpp"
#include "servicebus/endpoint.hpp"

namespace sessionq {

Client::Client(std::shared_ptr<client::ClientCore> core) noexcept : core_{std::move(core)} {}

Client Client::in_process(const LocalBroker& broker, ClientOptions options) {
    const std::shared_ptr<client::BrokerHost>& host = broker.host();
    const std::shared_ptr<broker::Broker> engine{host, &host->broker()};
    return Client{std::make_shared<client::ClientCore>(
        options, [engine](client::ReceiveThread& loop) -> ports::EndpointPtr { return std::make_unique<in_process::Endpoint>(engine, loop); })};
}

namespace {

servicebus::TokenSourcePtr tokens_of(const servicebus::ConnectionString& parsed) {
    if (!parsed.key.empty()) {
        return servicebus::make_key_tokens(parsed.key_name, parsed.key);
    }
    return parsed.signature.empty() ? nullptr : servicebus::make_ready_tokens(parsed.signature);
}

using Connect = std::function<void(ports::Endpoint&, ports::DoneHandler)>;

/// Waits until the first thread's endpoint is connected, so that what is wrong with the way to the broker is said here.
void connect_first(client::ClientCore& core, const Connect& connect) {
    const auto answer = std::make_shared<std::promise<core::Result<core::Done>>>();
    auto answered = answer->get_future();
    client::Station& station = core.station(0);
    station.thread->post([&station, connect, answer] {
        connect(*station.endpoint, [answer](core::Result<core::Done> result) { answer->set_value(std::move(result)); });
    });
    if (answered.wait_for(core.options().operation_timeout) != std::future_status::ready) {
        throw Error{Errc::timeout, "the broker did not answer in time"};
    }
    static_cast<void>(answered.get().take_or_throw());
}

amqp::TlsContextPtr make_tls(const TlsOptions& tls) {
    return amqp::make_tls(amqp::TlsClientSettings{
                              .ca_file = tls.ca_file, .certificate_file = tls.certificate_file, .key_file = tls.key_file, .verify = tls.verify_peer})
        .take_or_throw();
}

std::uint64_t seed_of(const client::ReceiveThread& thread) {
    return core::Random{static_cast<std::uint64_t>(thread.now().time_since_epoch().count())}.next();
}

std::shared_ptr<client::ClientCore> connect_to_service_bus(std::string_view connection_string, const ClientOptions& options, const TlsOptions& tls) {
    const auto parsed = servicebus::ConnectionString::parse(connection_string).take_or_throw();
    const amqp::TlsContextPtr context = parsed.tls ? make_tls(tls) : nullptr;
    auto core = std::make_shared<client::ClientCore>(options, [&](client::ReceiveThread& thread) -> ports::EndpointPtr {
        servicebus::HubSettings settings;
        settings.target = {.host = parsed.host, .port = parsed.port, .tls = context};
        settings.tokens = tokens_of(parsed);
        settings.operation_timeout = options.operation_timeout;
        settings.idle_timeout = options.connection_idle_timeout;
        settings.backoff = options.reconnect_backoff;
        settings.seed = seed_of(thread);
        return std::make_unique<servicebus::Endpoint>(thread, thread.io_context(), std::move(settings));
    });
    connect_first(*core, [&](ports::Endpoint& endpoint, ports::DoneHandler handler) {
        static_cast<servicebus::Endpoint&>(endpoint).connect(parsed.entity_path, std::move(handler));
    });
    return core;
}

std::shared_ptr<client::ClientCore> connect_to_groups(std::string_view url, const ClientOptions& options, const TlsOptions& tls) {
    groups::HubSettings settings{.url = groups::ConnectionUrl::parse(url).take_or_throw()};
    settings.tls = settings.url.tls ? make_tls(tls) : nullptr;
    settings.has_certificate = !tls.certificate_file.empty();
    settings.operation_timeout = options.operation_timeout;
    settings.idle_timeout = options.connection_idle_timeout;
    settings.backoff = options.reconnect_backoff;
    auto core = std::make_shared<client::ClientCore>(options, [&](client::ReceiveThread& thread) -> ports::EndpointPtr {
        settings.seed = seed_of(thread);
        return std::make_unique<groups::Endpoint>(thread, thread.io_context(), settings);
    });
    connect_first(
        *core, [](ports::Endpoint& endpoint, ports::DoneHandler handler) { static_cast<groups::Endpoint&>(endpoint).connect(std::move(handler)); });
    return core;
}

} // namespace

Client Client::connect(std::string_view connection_string, ClientOptions options, const TlsOptions& tls) {
    if (client::ReceiveThread::on_any()) {
        throw Error{Errc::invalid_state, "connect waits, which a receive thread must not"};
    }
    const bool is_url = groups::ConnectionUrl::is_one(connection_string);
    return Client{is_url ? connect_to_groups(connection_string, options, tls) : connect_to_service_bus(connection_string, options, tls)};
}

const ClientOptions& Client::options() const noexcept { return core_->options(); }

} // namespace sessionq
