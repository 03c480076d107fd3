// SPDX-License-Identifier: MIT
#include <sessionq/client.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include <sessionq/token_credential.hpp>

#include "amqp/web_socket.hpp"
#include "client/check.hpp"
#include "client/connecting/client_core.hpp"
#include "client/connecting/credential_tokens.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "core/host_port.hpp"
#include "core/random.hpp"
#include "groups/endpoint.hpp"
#include "servicebus/connection_string.hpp"
#include "servicebus/endpoint.hpp"

namespace sessionq::inline v1 {

Client::Client(std::shared_ptr<detail::client::ClientCore> core) noexcept
    : core_{std::move(core)} {}

namespace {

using MakeTokens = std::function<detail::servicebus::TokenSourcePtr(core::EventLoop&)>;

amqp::TlsContextPtr make_tls(const TlsOptions& tls) {
    auto made = amqp::make_tls(amqp::TlsClientSettings{.ca_file = tls.ca_file,
                                                       .certificate_file = tls.certificate_file,
                                                       .key_file = tls.key_file,
                                                       .verify = tls.verify_peer});
    if (!made) {
        Failure failure = made.failure();
        failure.detail.insert(0, "TlsOptions::");
        throw Error{std::move(failure)};
    }
    return std::move(made).value();
}

/// Returns a handler that runs `handler` on the notifier, because it is user code. Empty if
/// `handler` is.
amqp::IdleHandler notifying(const ConnectionIdleHandler& handler, core::Executor& notifier) {
    if (!handler) {
        return {};
    }
    return [shared = std::make_shared<const ConnectionIdleHandler>(handler),
            &notifier](ConnectionIdleness idleness) {
        notifier.post([shared, idleness = std::move(idleness)] { (*shared)(idleness); });
    };
}

/// Makes a `ClientCore` with an `Endpoint` on each receive thread. Unless the client connects
/// lazily, waits until the first endpoint is connected, so that a wrong address fails here.
template <typename Endpoint, typename MakeSettings, typename... Arguments>
std::shared_ptr<detail::client::ClientCore> connect_core(const ClientOptions& options,
                                                         const MakeSettings& make_settings,
                                                         const Arguments&... arguments) {
    const auto core = std::make_shared<detail::client::ClientCore>(
        options,
        [&](detail::client::ReceiveThread& thread, core::Executor& notifier) -> ports::EndpointPtr {
            auto settings = make_settings(thread);
            settings.operation_timeout = options.operation_timeout;
            settings.idle_timeout = options.connection_idle_timeout;
            settings.write_idle_timeout = options.connection_write_idle_timeout;
            settings.on_idle = notifying(options.on_connection_idle, notifier);
            settings.backoff = options.reconnect_backoff;
            const auto now = thread.now().time_since_epoch().count();
            settings.seed = core::Random{static_cast<std::uint64_t>(now)}.next();
            return std::make_unique<Endpoint>(thread, thread.io_context(), std::move(settings));
        });
    if (options.connect_lazily) {
        return core;
    }
    const auto answer = std::make_shared<std::promise<core::Result<core::Done>>>();
    auto answered = answer->get_future();
    detail::client::EndpointThread& first = core->thread(0);
    first.thread->post([&first, answer, arguments...] {
        static_cast<Endpoint&>(*first.endpoint)
            .connect(arguments..., [answer](core::Result<core::Done> result) {
                answer->set_value(std::move(result));
            });
    });
    if (answered.wait_for(options.operation_timeout) != std::future_status::ready) {
        throw Error{Errc::timeout, "the broker did not answer in time"};
    }
    static_cast<void>(answered.get().take_or_throw());
    return core;
}

/// Parses a host, a namespace of Azure's public cloud, or a connection string without a key.
detail::servicebus::ConnectionString place_of(std::string_view where,
                                              std::optional<Transport> transport) {
    if (where.find('=') == std::string_view::npos) {
        const bool is_name =
            where.find_first_of(".:/") == std::string_view::npos && where != "localhost";
        return detail::servicebus::ConnectionString::parse(
                   (where.find("://") == std::string_view::npos ? "Endpoint=sb://" : "Endpoint=") +
                       std::string{where} +
                       (is_name && !where.empty() ? ".servicebus.windows.net" : ""),
                   transport)
            .take_or_throw();
    }
    auto parsed = detail::servicebus::ConnectionString::parse(where, transport).take_or_throw();
    detail::client::require_argument(
        parsed.key.empty() && parsed.signature.empty(),
        "the connection string holds a key or signature, and a credential was given too");
    return parsed;
}

std::shared_ptr<const amqp::Proxy> proxy_of(const ClientOptions& options) {
    if (!options.proxy) {
        return nullptr;
    }
    const HttpProxy& proxy = *options.proxy;
    return std::make_shared<const amqp::Proxy>(amqp::Proxy{.at = {proxy.host, proxy.port},
                                                           .user = proxy.user,
                                                           .password = proxy.password,
                                                           .bypass = proxy.bypass});
}

std::optional<core::HostPort> address_of(const ClientOptions& options, std::uint16_t default_port) {
    if (options.endpoint_address.empty()) {
        return std::nullopt;
    }
    auto parsed = core::parse_host_port(options.endpoint_address, default_port,
                                        "ClientOptions::endpoint_address");
    detail::client::require_option(parsed.ok(), parsed.ok() ? "" : parsed.failure().detail);
    return std::move(parsed).value();
}

std::shared_ptr<detail::client::ClientCore> connect_to_service_bus(
    const detail::servicebus::ConnectionString& parsed, const MakeTokens& make_tokens,
    const ClientOptions& options, const TlsOptions& tls) {
    const amqp::TlsContextPtr context = parsed.tls ? make_tls(tls) : nullptr;
    const auto address = address_of(options, parsed.port);
    const auto proxy = proxy_of(options);
    const auto make_settings = [&](detail::client::ReceiveThread& thread) {
        detail::servicebus::EndpointSettings settings;
        settings.target = {.host = parsed.host,
                           .port = parsed.port,
                           .tls = context,
                           .at = address,
                           .proxy = proxy};
        if (parsed.transport == Transport::web_sockets) {
            settings.target.web_socket_path = amqp::service_bus_web_socket_path;
        }
        settings.tokens = make_tokens(thread);
        return settings;
    };
    auto core =
        connect_core<detail::servicebus::Endpoint>(options, make_settings, parsed.entity_path);
    core->begin_tracing({.system = "servicebus", .address = parsed.host, .port = parsed.port});
    return core;
}

std::shared_ptr<detail::client::ClientCore> connect_to_groups(std::string_view url,
                                                              const ClientOptions& options,
                                                              const TlsOptions& tls) {
    groups::EndpointSettings settings{.url = groups::ConnectionUrl::parse(url).take_or_throw()};
    detail::client::require_option(!options.connect_lazily || settings.url.dialect != nullptr,
                                   "ClientOptions::connect_lazily: the URL must name the dialect, "
                                   "?dialect=artemis or ?dialect=broker-j");
    settings.tls = settings.url.tls ? make_tls(tls) : nullptr;
    settings.has_certificate = !tls.certificate_file.empty();
    settings.proxy = proxy_of(options);
    auto core = connect_core<groups::Endpoint>(
        options, [&](detail::client::ReceiveThread&) { return settings; });
    const core::HostPort& at = settings.url.hosts.front();
    core->begin_tracing({.system = std::string{settings.dialect->load()->messaging_system},
                         .address = at.host,
                         .port = at.port});
    return core;
}

void forbid_on_receive_threads() {
    if (detail::client::ReceiveThread::on_any()) {
        throw Error{Errc::invalid_state, "connect waits, which a receive thread must not"};
    }
}

} // namespace

Client Client::connect(std::string_view connection_string, ClientOptions options,
                       const TlsOptions& tls) {
    forbid_on_receive_threads();
    if (groups::ConnectionUrl::is_one(connection_string)) {
        detail::client::require_option(options.transport != Transport::web_sockets,
                                       "ClientOptions::transport: message groups have tcp only");
        detail::client::require_option(
            options.endpoint_address.empty(),
            "ClientOptions::endpoint_address: the URL of message groups names "
            "all hosts");
        return Client{connect_to_groups(connection_string, options, tls)};
    }
    const auto place =
        detail::servicebus::ConnectionString::parse(connection_string, options.transport)
            .take_or_throw();
    const MakeTokens make_tokens =
        [&place](core::EventLoop&) -> detail::servicebus::TokenSourcePtr {
        if (!place.key.empty()) {
            return detail::servicebus::make_key_tokens(place.key_name, place.key);
        }
        return place.signature.empty() ? nullptr
                                       : detail::servicebus::make_ready_tokens(place.signature);
    };
    return Client{connect_to_service_bus(place, make_tokens, options, tls)};
}

Client Client::connect(const char* connection_string, ClientOptions options,
                       const TlsOptions& tls) {
    detail::client::require_argument(connection_string != nullptr, "the connection string is null");
    return connect(std::string_view{connection_string}, options, tls);
}

Client Client::connect_with(std::string_view where, std::shared_ptr<TokenCredential> credential,
                            ClientOptions options, const TlsOptions& tls) {
    forbid_on_receive_threads();
    detail::client::require_argument(credential != nullptr, "credential is null");
    const MakeTokens make_tokens = [&credential](core::EventLoop& loop) {
        return std::make_unique<detail::client::CredentialTokens>(credential, loop);
    };
    return Client{
        connect_to_service_bus(place_of(where, options.transport), make_tokens, options, tls)};
}

Client Client::connect(std::string_view where, const NamedKeyCredential& credential,
                       ClientOptions options, const TlsOptions& tls) {
    forbid_on_receive_threads();
    const auto& keys = detail::client::Access::ring(credential);
    const MakeTokens make_tokens = [&keys](core::EventLoop&) {
        return detail::servicebus::make_key_tokens(keys);
    };
    return Client{
        connect_to_service_bus(place_of(where, options.transport), make_tokens, options, tls)};
}

const ClientOptions& Client::options() const {
    return detail::client::Access::core(*this)->options();
}

Metrics Client::metrics() const { return detail::client::Access::core(*this)->metrics(); }

Result<Client> Client::try_connect(std::string_view connection_string, ClientOptions options,
                                   const TlsOptions& tls) noexcept {
    return core::as_result([&] { return connect(connection_string, std::move(options), tls); });
}

Result<Client> Client::try_connect(const char* connection_string, ClientOptions options,
                                   const TlsOptions& tls) noexcept {
    return core::as_result([&] { return connect(connection_string, std::move(options), tls); });
}

Result<Client> Client::try_connect(std::string_view where, const NamedKeyCredential& credential,
                                   ClientOptions options, const TlsOptions& tls) noexcept {
    return core::as_result([&] { return connect(where, credential, std::move(options), tls); });
}

Result<Client> Client::try_connect_with(std::string_view where,
                                        std::shared_ptr<TokenCredential> credential,
                                        ClientOptions options, const TlsOptions& tls) noexcept {
    return core::as_result(
        [&] { return connect_with(where, std::move(credential), std::move(options), tls); });
}

} // namespace sessionq::inline v1
