// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_place.hpp"

#include <memory>
#include <utility>

#include "amqp/web_socket.hpp"
#include "groups/connection_url.hpp"
#include "servicebus/connection_string.hpp"

namespace sessionq::cli {
namespace {

std::shared_ptr<const amqp::Proxy> place_proxy(const Shared& shared) {
    if (!shared.proxy) {
        return nullptr;
    }
    const HttpProxy& proxy = *shared.proxy;
    return std::make_shared<const amqp::Proxy>(amqp::Proxy{.at = {proxy.host, proxy.port},
                                                           .user = proxy.user,
                                                           .password = proxy.password,
                                                           .bypass = proxy.bypass});
}

amqp::TlsContextPtr place_tls(const Shared& shared) {
    return amqp::make_tls(amqp::TlsClientSettings{.ca_file = shared.ca_file}).take_or_throw();
}

DoctorPlace groups_place(const Shared& shared) {
    using Mechanism = amqp::SaslCredentials::Mechanism;
    auto url = groups::ConnectionUrl::parse(shared.connection).take_or_throw();
    DoctorPlace place{
        .is_groups = true,
        .credentials = {.mechanism = Mechanism::any, .user = url.user, .password = url.password},
        .virtual_host = url.virtual_host,
        .dialect = url.dialect,
        .secrets = {url.password}};
    const amqp::TlsContextPtr tls = url.tls ? place_tls(shared) : nullptr;
    for (core::HostPort& each : url.hosts) {
        place.targets.push_back({.host = std::move(each.host),
                                 .port = each.port,
                                 .tls = tls,
                                 .proxy = place_proxy(shared)});
    }
    return place;
}

DoctorPlace service_bus_place(const Shared& shared) {
    auto parsed = detail::servicebus::ConnectionString::parse(shared.connection).take_or_throw();
    amqp::Target target{.host = parsed.host,
                        .port = parsed.port,
                        .tls = parsed.tls ? place_tls(shared) : nullptr,
                        .proxy = place_proxy(shared)};
    if (parsed.transport == Transport::web_sockets) {
        target.web_socket_path = amqp::service_bus_web_socket_path;
    }
    DoctorPlace place{.key_name = parsed.key_name,
                      .entity = std::move(parsed.entity_path),
                      .secrets = {parsed.key, parsed.signature}};
    place.targets.push_back(std::move(target));
    if (!parsed.key.empty()) {
        place.tokens = detail::servicebus::make_key_tokens(parsed.key_name, parsed.key);
    } else if (!parsed.signature.empty()) {
        place.tokens = detail::servicebus::make_ready_tokens(parsed.signature);
    }
    return place;
}

} // namespace

DoctorPlace find_place(const Shared& shared, const std::string& entity) {
    DoctorPlace place = groups::ConnectionUrl::is_one(shared.connection)
                            ? groups_place(shared)
                            : service_bus_place(shared);
    if (!entity.empty()) {
        place.entity = entity;
    }
    if (shared.proxy) {
        place.secrets.push_back(shared.proxy->password);
    }
    return place;
}

} // namespace sessionq::cli
