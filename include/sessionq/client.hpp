// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sessionq/backoff_options.hpp>
#include <sessionq/connection_idleness.hpp>
#include <sessionq/http_proxy.hpp>
#include <sessionq/metrics.hpp>
#include <sessionq/named_key_credential.hpp>
#include <sessionq/result.hpp>
#include <sessionq/time.hpp>
#include <sessionq/token_credential.hpp>
#include <sessionq/transport.hpp>

namespace sessionq::inline v1 {

class LocalBroker;
class Tracer;

} // namespace sessionq::inline v1

namespace sessionq::detail::client {
class ClientCore;
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// Is told that a connection is idle.
using ConnectionIdleHandler = std::function<void(const ConnectionIdleness&)>;

/// How a `Client` works. An aggregate for designated initialisers. A value out of range throws
/// `Error{Errc::invalid_option}` naming the member. Nothing is clamped.
struct ClientOptions {
    /// Number of threads that carry connections, sessions, locks and timers. Senders, receivers,
    /// browsers and rule managers of the client are spread over them in turn. A `SessionProcessor`
    /// uses all of them, a `Processor` the first one. One thread serves thousands of sessions.
    /// Range: 1 to 64. Default 1.
    std::uint32_t receive_threads{1};

    /// Timeout of a call that has no deadline, neither in its `CallOptions` nor in the ambient
    /// context. Range: 1 ms to 24 h. Default 60 s.
    Duration operation_timeout{std::chrono::seconds{60}};

    /// How long an idle receive thread looks for new work before it sleeps. It saves wake-ups and
    /// costs processor time, so it pays only with cores to spare. Range: 0 to 1 ms. Zero: sleep at
    /// once. Default 0.
    Duration receive_spin{};

    /// Read idle timeout: how long a connection may receive nothing before the client considers
    /// the broker gone and reconnects. The client asks for a sign of life twice in that time.
    /// Counted in whole seconds. No effect in process. Range: 4 s to 1 h. Default 120 s.
    Duration connection_idle_timeout{std::chrono::seconds{120}};

    /// Write idle timeout: how long a connection may send nothing before the client sends a
    /// heartbeat, at most a second later. It keeps the connection alive on a network that drops
    /// silent ones. The client also sends twice in the idle timeout that the broker tells, so a
    /// longer time than that has no effect. No effect in process. Range: 0, or 1 s to 1 h. Zero:
    /// only as the broker requires. Default 0.
    Duration connection_write_idle_timeout{};

    /// Runs when a connection is idle. Read: once, when `connection_idle_timeout` has passed. The
    /// client has given the connection up by then, and new operations use another one. Write:
    /// before each heartbeat, so again and again while the client has nothing to send, with a
    /// growing `ConnectionIdleness::idle`. It runs on the client's notifier thread, one call at a
    /// time. It may use the client and should return soon, because callbacks of stop tokens wait
    /// for it. If it throws, the library logs an error. It may still run while the last handle of
    /// the client is destroyed, and it must not hold one. No effect in process. Null: nobody is
    /// told. Default null.
    ConnectionIdleHandler on_connection_idle{};

    /// True: `connect` returns without a connection, and the first use makes it. A service can then
    /// start before its broker: a processor waits for it, and its health tells `not_connected`;
    /// other operations fail as they do after a loss. A wrong address or key shows only there.
    /// Message groups need `?dialect=` in their URL, because only the broker tells it otherwise. No
    /// effect in process. Default false.
    bool connect_lazily{false};

    /// Delays between attempts to connect. They grow while attempts fail, or while connections last
    /// less than ten times `min`. No effect in process. Default 100 ms to 30 s.
    BackoffOptions reconnect_backoff{};

    /// The transport that carries AMQP to Azure Service Bus. If the connection string has a
    /// `TransportType` too, both must agree. Message groups support tcp only. No effect in process.
    /// Unset: the connection string's `TransportType`, or else tcp. Default unset.
    std::optional<Transport> transport{};

    /// The HTTP proxy through which the client reaches its broker: TCP with or without TLS, and
    /// WebSockets. The variables `HTTPS_PROXY` and `NO_PROXY` count only with
    /// `HttpProxy::from_environment`. No effect in process. Unset: none. Default unset.
    std::optional<HttpProxy> proxy{};

    /// `HOST[:PORT]` to connect to instead of the host of the connection string, for example a
    /// private endpoint or a gateway. The client still names the host of the connection string, and
    /// TLS verifies that name. Without PORT it is the port that the connection string would have.
    /// Not for message groups, whose URL names all hosts. No effect in process. Empty: the host of
    /// the connection string. Default empty.
    std::string endpoint_address{};

    /// Names the client in metrics and spans: the attribute `messaging.client.id` of OpenTelemetry.
    /// So the clients of a process can be told apart. UTF-8. Empty: they have no such attribute.
    /// Default empty.
    std::string client_id{};

    /// Makes the spans of everything that is made from the client: of sends, receives, handlers and
    /// settlements. `Tracer` lists the spans, and the threads that call it. Null: no tracing, at no
    /// cost. Default null.
    std::shared_ptr<Tracer> tracer{};
};

/// Whom a client trusts when it connects over TLS, and its own certificate. `Client::connect` reads
/// the files, which must be PEM. An aggregate for designated initialisers. An unusable file throws
/// `Error{Errc::invalid_option}` naming the member.
struct TlsOptions {
    /// The certificates to trust. Empty: those that the system trusts. Default empty.
    std::string ca_file{};

    /// The client's certificate and its chain. Empty: the client shows none. Default empty.
    std::string certificate_file{};

    /// The key of the client's certificate. Empty: `certificate_file` contains it. Default empty.
    std::string key_file{};

    /// Whether to check the peer's certificate and host name. False accepts any, for tests. Default
    /// true.
    bool verify_peer{true};
};

/// A shared handle to a broker: its receive threads and the connections they carry.
///
/// Example:
///
///     const auto orders = Client::connect(std::getenv("SESSIONQ_CONNECTION"),
///                                         {.operation_timeout = std::chrono::seconds{10}});
///     Sender sender{orders, "orders"};
///     sender.send(Message::of("placed").in_session("ada"));
///
/// Lifetimes: senders, receivers and processors made from a client keep it alive. The threads end
/// with the last of them. That destructor waits for the threads, which does not depend on the
/// broker.
///
/// Thread safety:
/// Distinct objects: safe, also when they share a client.
/// Shared objects: safe to read. Making other objects from a client is reading.
class Client {
public:
    /// Returns a client of a broker in this process. The broker's queues live as long as the
    /// `LocalBroker` or a client of it.
    ///
    /// Errors: invalid_option (names the member of `options`), resource_exhausted (no thread could
    /// be started).
    [[nodiscard]] static Client in_process(const LocalBroker& broker, ClientOptions options = {});

    /// Connects to Azure Service Bus, or to a broker that speaks like it, by a connection string:
    ///
    ///     Endpoint=sb://HOST[:PORT];SharedAccessKeyName=NAME;SharedAccessKey=KEY
    ///         [;EntityPath=ENTITY][;UseDevelopmentEmulator=true]
    ///
    /// - `SharedAccessSignature=` may replace name and key.
    /// - With `UseDevelopmentEmulator=true` the connection is plain TCP. Otherwise it is TLS, and
    ///   the host's name is verified.
    /// - With `ClientOptions::transport`, or `TransportType=AmqpWebSockets` in the string, it is a
    ///   WebSocket, on port 443 unless the string names one. Use it in networks that allow nothing
    ///   else.
    ///
    /// Or connects to a broker that orders messages by group, ActiveMQ Artemis or Qpid Broker-J, by
    /// a URL:
    ///
    ///     amqp[s]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]
    ///         [/VIRTUAL-HOST][?dialect=artemis|broker-j]
    ///
    /// - A message group is a session.
    /// - The client tries several hosts in order, also after a connection is lost.
    /// - Without `dialect` the broker identifies itself.
    /// - A feature that the broker lacks fails with `not_supported`, naming the broker.
    ///
    /// Connects before it returns, within `operation_timeout`, so that a wrong address shows at
    /// once, unless `ClientOptions::connect_lazily`. With `EntityPath` it also asks for the right
    /// to that entity. Otherwise the client asks at the first use of each entity. After a loss the
    /// client reconnects when it needs the connection, with a backoff between failures.
    ///
    /// Clocks: Azure Service Bus tells the end of a session's lock by its own clock. If this
    /// machine's clock is ahead, the client only renews more often. If it is behind by less than
    /// ten seconds, or by less than the lock's length if that is shorter, nothing happens. If it is
    /// behind by more, a session may be lost that is held longer than its lock and gets no message.
    /// A fresh message or such a loss shows the difference of the clocks, and the client remembers
    /// it for an hour or two.
    ///
    /// Sources: Microsoft's documentation of Azure Service Bus and its emulator defines the
    /// connection string, `UseDevelopmentEmulator` and `TransportType`. Azure's current clients
    /// ignore `TransportType` and have an option instead, as there is here. Their predecessor in
    /// .NET read it, and so does sessionq.
    ///
    /// Errors: the broker's (see `Errc`). In particular invalid_argument (the connection string or
    /// URL; names the part, never a secret), connection_refused (unknown host, or nothing listens
    /// there), peer_untrusted (the certificate), not_supported (an unknown broker, without
    /// `dialect`), unauthorized (also by the proxy), resource_exhausted (no thread could be
    /// started). Also invalid_option (a member of `options`, a `transport` that the string
    /// contradicts or the broker lacks, or a file of `tls`).
    [[nodiscard]] static Client connect(std::string_view connection_string,
                                        ClientOptions options = {}, const TlsOptions& tls = {});

    /// Connects by a connection string or a URL that may be missing, such as an environment
    /// variable. `connect(std::string_view)` describes the two forms.
    ///
    /// Errors: the broker's (see `Errc`), invalid_option (a member of `options`, a `transport` that
    /// the string contradicts or the broker lacks, or a file of `tls`). In particular
    /// invalid_argument (the pointer is null, or the string is faulty; names the part, never a
    /// secret).
    [[nodiscard]] static Client connect(const char* connection_string, ClientOptions options = {},
                                        const TlsOptions& tls = {});

    /// Connects to Azure Service Bus, or to a broker that speaks like it, with tokens instead of a
    /// key. `where` is one of:
    /// - a host with or without a port ("contoso.servicebus.windows.net", "localhost:5671"),
    /// - the name of a namespace in Azure's public cloud ("contoso"),
    /// - a connection string without key and signature.
    ///
    /// It connects before it returns, within `operation_timeout`, unless
    /// `ClientOptions::connect_lazily`. The client keeps the credential as long as it lives.
    /// Several clients may share one.
    ///
    /// Errors: the broker's (see `Errc`), invalid_option (a member of `options`, or a file of
    /// `tls`). In particular invalid_argument (`credential` is null; `where` is faulty, or contains
    /// a key or signature), connection_refused (unknown host, or nothing listens there),
    /// peer_untrusted (the certificate), unauthorized (also by the proxy), resource_exhausted (no
    /// thread could be started).
    template <typename Credential>
    requires std::derived_from<Credential, TokenCredential>
    [[nodiscard]] static Client connect(
        std::string_view where, std::shared_ptr<Credential> credential, ClientOptions options = {},
        const TlsOptions& tls = {}) { // a template, so that {} still means the options above
        return connect_with(where, std::move(credential), options, tls);
    }

    /// Connects to Azure Service Bus, or to a broker that speaks like it, with keys that may change
    /// later (`NamedKeyCredential::update`). `where` is a host with or without a port, the name of
    /// a namespace in Azure's public cloud, or a connection string without key and signature.
    ///
    /// It connects before it returns, within `operation_timeout`, unless
    /// `ClientOptions::connect_lazily`.
    ///
    /// Errors: the broker's (see `Errc`), invalid_option (a member of `options`, or a file of
    /// `tls`). In particular invalid_argument (`where` is faulty, or contains a key or signature),
    /// connection_refused (unknown host, or nothing listens there), peer_untrusted (the
    /// certificate), unauthorized (also by the proxy), resource_exhausted (no thread could be
    /// started).
    [[nodiscard]] static Client connect(std::string_view where,
                                        const NamedKeyCredential& credential,
                                        ClientOptions options = {}, const TlsOptions& tls = {});

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Returns a client of a broker in this process. Does what `in_process` does, and returns the
    /// failure instead of throwing it.
    static Result<Client> try_in_process(const LocalBroker& broker,
                                         ClientOptions options = {}) noexcept;

    /// Connects to a broker by a connection string or a URL. Does what `connect` does, and returns
    /// the failure instead of throwing it.
    static Result<Client> try_connect(std::string_view connection_string,
                                      ClientOptions options = {},
                                      const TlsOptions& tls = {}) noexcept;

    /// Connects by a connection string or a URL that may be missing, such as an environment
    /// variable. A null pointer is invalid_argument. Does what `connect` does, and returns the
    /// failure instead of throwing it.
    static Result<Client> try_connect(const char* connection_string, ClientOptions options = {},
                                      const TlsOptions& tls = {}) noexcept;

    /// Connects to Azure Service Bus, or to a broker that speaks like it, with tokens instead of a
    /// key. Does what `connect` does, and returns the failure instead of throwing it.
    template <typename Credential>
    requires std::derived_from<Credential, TokenCredential>
    static Result<Client> try_connect(std::string_view where,
                                      std::shared_ptr<Credential> credential,
                                      ClientOptions options = {},
                                      const TlsOptions& tls = {}) noexcept {
        return try_connect_with(where, std::move(credential), std::move(options), tls);
    }

    /// Connects to Azure Service Bus, or to a broker that speaks like it, with keys that may change
    /// later. Does what `connect` does, and returns the failure instead of throwing it.
    static Result<Client> try_connect(std::string_view where, const NamedKeyCredential& credential,
                                      ClientOptions options = {},
                                      const TlsOptions& tls = {}) noexcept;

    [[nodiscard]] const ClientOptions& options() const;

    /// A snapshot of the client's measurements since it was made: connections, sends, accepts of
    /// receivers; `Metrics` has the table. Measuring takes 33 KiB for each receive thread. A
    /// snapshot costs the caller some microseconds, and no receive thread waits for it.
    [[nodiscard]] Metrics metrics() const;

private:
    friend struct detail::client::Access;

    static Client connect_with(std::string_view where, std::shared_ptr<TokenCredential> credential,
                               ClientOptions options, const TlsOptions& tls);
    static Result<Client> try_connect_with(std::string_view where,
                                           std::shared_ptr<TokenCredential> credential,
                                           ClientOptions options, const TlsOptions& tls) noexcept;
    explicit Client(std::shared_ptr<detail::client::ClientCore> core) noexcept;

    std::shared_ptr<detail::client::ClientCore> core_;
};

} // namespace sessionq::inline v1
