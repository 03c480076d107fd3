// SPDX-License-Identifier: MIT
#include "groups/dialect_connection.hpp"

#include <utility>

#include "amqp/codec/encoder.hpp"
#include "groups/conditions.hpp"

namespace sessionq::groups {
namespace {

std::string product_of(const amqp::Open& peer) {
    const auto properties = amqp::decode(peer.properties);
    const amqp::Value* product = properties ? properties->find("product") : nullptr;
    return std::string{product != nullptr ? product->text().value_or("") : ""};
}

amqp::ClientConnectionOptions options_of(const EndpointSettings& settings) {
    const ConnectionUrl& url = settings.url;
    amqp::ClientConnectionOptions options{
        .hostname = url.virtual_host,
        .credentials = {.mechanism = amqp::SaslCredentials::Mechanism::any,
                        .user = url.user,
                        .password = url.password,
                        .has_certificate = settings.has_certificate},
        .operation_timeout = settings.operation_timeout,
        .idle_timeout = settings.idle_timeout,
        .write_idle_timeout = settings.write_idle_timeout,
        .on_idle = settings.on_idle,
        .backoff = settings.backoff,
        .seed = settings.seed};
    for (const core::HostPort& each : url.hosts) {
        options.hosts.push_back(
            {.host = each.host, .port = each.port, .tls = settings.tls, .proxy = settings.proxy});
    }
    return options;
}

} // namespace

DialectConnection::DialectConnection(core::EventLoop& loop, asio::io_context& io,
                                     const EndpointSettings& settings)
    : loop_{loop},
      dialect_{settings.dialect},
      host_{loop, io},
      connection_{host_, options_of(settings), *this} {
    if (settings.url.dialect != nullptr) {
        dialect_->store(settings.url.dialect, std::memory_order_release);
    }
}

const ports::Capabilities& DialectConnection::capabilities() const noexcept {
    return dialect() != nullptr ? dialect()->capabilities : common_capabilities();
}

std::optional<Failure> DialectConnection::on_connected(const amqp::Open& peer) {
    if (dialect() != nullptr) {
        return std::nullopt;
    }
    const std::string product = product_of(peer);
    const Dialect* const found = dialect_by_product(product);
    if (found == nullptr) {
        return Failure{.code = Errc::not_supported,
                       .detail = unknown_broker(product) +
                                 "; if it behaves like a known one, add ?dialect=artemis or "
                                 "?dialect=broker-j to the URL; Azure Service Bus and sessionqd "
                                 "need a connection string, Endpoint=sb://..."};
    }
    dialect_->store(found, std::memory_order_release);
    return std::nullopt;
}

Failure DialectConnection::explain(const amqp::Condition& condition, std::string what) {
    return to_failure(condition, std::move(what));
}

} // namespace sessionq::groups
