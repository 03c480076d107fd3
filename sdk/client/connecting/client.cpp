// SPDX-License-Identifier: MIT
#include <sessionq/client.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include <sessionq/detail/calls.hpp>
#include <sessionq/token_credential.hpp>

#include "amqp/web_socket.hpp"
#include "client/calls/answering.hpp"
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

constexpr auto unanswered = "the broker did not answer in time";

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

/// A client whose threads have started. It has not connected.
struct Unconnected {
    using Handler = std::function<void(core::Result<core::Done>)>;

    std::shared_ptr<detail::client::ClientCore> core;
    /// Runs on the first receive thread. Null: the client connects at its first use.
    std::function<void(Handler)> connect{};
    /// Tells the broker that spans name, once the client has connected.
    std::function<core::SpanBroker()> broker{};
};

/// Makes a `ClientCore` with an `Endpoint` on each receive thread, which the first one connects.
template <typename Endpoint, typename MakeSettings, typename... Arguments>
Unconnected start_core(const ClientOptions& options, const MakeSettings& make_settings,
                       const Arguments&... arguments) {
    Unconnected made{.core = std::make_shared<detail::client::ClientCore>(
                         options,
                         [&](detail::client::ReceiveThread& thread,
                             core::Executor& notifier) -> ports::EndpointPtr {
                             auto settings = make_settings(thread);
                             settings.operation_timeout = options.operation_timeout;
                             settings.idle_timeout = options.connection_idle_timeout;
                             settings.write_idle_timeout = options.connection_write_idle_timeout;
                             settings.on_idle = notifying(options.on_connection_idle, notifier);
                             settings.backoff = options.reconnect_backoff;
                             const auto now = thread.now().time_since_epoch().count();
                             settings.seed = core::Random{static_cast<std::uint64_t>(now)}.next();
                             return std::make_unique<Endpoint>(thread, thread.io_context(),
                                                               std::move(settings));
                         })};
    if (!options.connect_lazily) {
        // The endpoint lives as long as its loop, where this runs.
        auto& endpoint = static_cast<Endpoint&>(*made.core->thread(0).endpoint);
        made.connect = [&endpoint, arguments...](Unconnected::Handler handler) {
            endpoint.connect(arguments..., std::move(handler));
        };
    }
    return made;
}

/// Connects and waits for it, so that a wrong address fails here.
std::shared_ptr<detail::client::ClientCore> connected(Unconnected made) {
    if (made.connect) {
        const auto answer = std::make_shared<std::promise<core::Result<core::Done>>>();
        auto answered = answer->get_future();
        made.core->thread(0).thread->post([connect = std::move(made.connect), answer] {
            connect([answer](core::Result<core::Done> result) {
                answer->set_value(std::move(result));
            });
        });
        if (answered.wait_for(made.core->options().operation_timeout) !=
            std::future_status::ready) {
            throw Error{Errc::timeout, unanswered};
        }
        static_cast<void>(answered.get().take_or_throw());
    }
    made.core->begin_tracing(made.broker());
    return std::move(made.core);
}

/// The same as a call that can be awaited.
detail::CallPtr<Client> connecting(Unconnected made) {
    detail::client::PublicCall<core::Done, Client> call{
        .finish = [core = made.core,
                   broker = std::move(made.broker)](core::Result<core::Done> answer) {
            if (!answer && answer.failure().code == Errc::timeout &&
                answer.failure().detail.empty()) {
                throw Error{Errc::timeout, unanswered};
            }
            static_cast<void>(std::move(answer).take_or_throw());
            core->begin_tracing(broker());
            return detail::client::Access::make<Client>(core);
        }};
    if (made.connect) {
        const TimePoint now = made.core->clock().now();
        call.operation.emplace(detail::client::Operation<core::Done>{
            .client = made.core,
            .loop = *made.core->thread(0).thread,
            .deadline = Deadline::after(made.core->options().operation_timeout, now),
            .context = {},
            .start = [connect = std::move(made.connect)](
                         const detail::client::PendingPtr<core::Done>& pending) {
                connect(detail::client::AnswerTo<core::Done>{pending});
            }});
    }
    return detail::client::prepared(std::move(call));
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

Unconnected to_service_bus(const detail::servicebus::ConnectionString& parsed,
                           const MakeTokens& make_tokens, const ClientOptions& options,
                           const TlsOptions& tls) {
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
    auto made =
        start_core<detail::servicebus::Endpoint>(options, make_settings, parsed.entity_path);
    made.broker = [host = parsed.host, port = parsed.port] {
        return core::SpanBroker{.system = "servicebus", .address = host, .port = port};
    };
    return made;
}

Unconnected to_groups(std::string_view url, const ClientOptions& options, const TlsOptions& tls) {
    groups::EndpointSettings settings{.url = groups::ConnectionUrl::parse(url).take_or_throw()};
    detail::client::require_option(!options.connect_lazily || settings.url.dialect != nullptr,
                                   "ClientOptions::connect_lazily: the URL must name the dialect, "
                                   "?dialect=artemis or ?dialect=broker-j");
    settings.tls = settings.url.tls ? make_tls(tls) : nullptr;
    settings.has_certificate = !tls.certificate_file.empty();
    settings.proxy = proxy_of(options);
    auto made = start_core<groups::Endpoint>(
        options, [&](detail::client::ReceiveThread&) { return settings; });
    made.broker = [at = settings.url.hosts.front(), dialect = settings.dialect] {
        return core::SpanBroker{.system = std::string{dialect->load()->messaging_system},
                                .address = at.host,
                                .port = at.port};
    };
    return made;
}

void forbid_on_receive_threads() {
    if (detail::client::ReceiveThread::on_any()) {
        throw Error{Errc::invalid_state, "connect waits, which a receive thread must not"};
    }
}

Unconnected to_broker(std::string_view connection_string, const ClientOptions& options,
                      const TlsOptions& tls) {
    forbid_on_receive_threads();
    if (groups::ConnectionUrl::is_one(connection_string)) {
        detail::client::require_option(options.transport != Transport::web_sockets,
                                       "ClientOptions::transport: message groups have tcp only");
        detail::client::require_option(
            options.endpoint_address.empty(),
            "ClientOptions::endpoint_address: the URL of message groups names "
            "all hosts");
        return to_groups(connection_string, options, tls);
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
    return to_service_bus(place, make_tokens, options, tls);
}

Unconnected to_broker(const char* connection_string, const ClientOptions& options,
                      const TlsOptions& tls) {
    detail::client::require_argument(connection_string != nullptr, "the connection string is null");
    return to_broker(std::string_view{connection_string}, options, tls);
}

Unconnected to_broker(std::string_view where, std::shared_ptr<TokenCredential> credential,
                      const ClientOptions& options, const TlsOptions& tls) {
    forbid_on_receive_threads();
    detail::client::require_argument(credential != nullptr, "credential is null");
    const MakeTokens make_tokens = [&credential](core::EventLoop& loop) {
        return std::make_unique<detail::client::CredentialTokens>(credential, loop);
    };
    return to_service_bus(place_of(where, options.transport), make_tokens, options, tls);
}

Unconnected to_broker(std::string_view where, const NamedKeyCredential& credential,
                      const ClientOptions& options, const TlsOptions& tls) {
    forbid_on_receive_threads();
    const auto& keys = detail::client::Access::ring(credential);
    const MakeTokens make_tokens = [&keys](core::EventLoop&) {
        return detail::servicebus::make_key_tokens(keys);
    };
    return to_service_bus(place_of(where, options.transport), make_tokens, options, tls);
}

} // namespace

Client Client::connect(std::string_view connection_string, ClientOptions options,
                       const TlsOptions& tls) {
    return Client{connected(to_broker(connection_string, options, tls))};
}

Client Client::connect(const char* connection_string, ClientOptions options,
                       const TlsOptions& tls) {
    return Client{connected(to_broker(connection_string, options, tls))};
}

Client Client::connect_with(std::string_view where, std::shared_ptr<TokenCredential> credential,
                            ClientOptions options, const TlsOptions& tls) {
    return Client{connected(to_broker(where, std::move(credential), options, tls))};
}

Client Client::connect(std::string_view where, const NamedKeyCredential& credential,
                       ClientOptions options, const TlsOptions& tls) {
    return Client{connected(to_broker(where, credential, options, tls))};
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

namespace sessionq::detail {

CallPtr<Client> prepare_connect(std::string_view connection_string, const ClientOptions& options,
                                const TlsOptions& tls) {
    return connecting(to_broker(connection_string, options, tls));
}

CallPtr<Client> prepare_connect(const char* connection_string, const ClientOptions& options,
                                const TlsOptions& tls) {
    return connecting(to_broker(connection_string, options, tls));
}

CallPtr<Client> prepare_connect(std::string_view where, std::shared_ptr<TokenCredential> credential,
                                const ClientOptions& options, const TlsOptions& tls) {
    return connecting(to_broker(where, std::move(credential), options, tls));
}

CallPtr<Client> prepare_connect(std::string_view where, const NamedKeyCredential& credential,
                                const ClientOptions& options, const TlsOptions& tls) {
    return connecting(to_broker(where, credential, options, tls));
}

} // namespace sessionq::detail
