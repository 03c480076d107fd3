#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sessionq/backoff_options.hpp>
#include <sessionq/time.hpp>
#include <sessionq/token_credential.hpp>
#include <sessionq/transport.hpp>

namespace sessionq {

class LocalBroker;

namespace client {
class ClientCore;
}

/// How a `Client` works. An aggregate for designated initialisers; a value out of range throws
/// `Error{Errc::invalid_option}` naming the member, nothing is clamped.
struct ClientOptions {
    /// Threads that carry connections, sessions, leases and timers. What is made from the client is
    /// spread over them in turn. One serves thousands of sessions. Range: 1 to 64. Default 1.
    std::uint32_t receive_threads{1};

    /// How long a call may take that has no deadline in scope, neither explicit nor ambient (R20).
    /// Range: 1 ms to 24 h. Default 60 s.
    Duration operation_timeout{std::chrono::seconds{60}};

    /// How long a receive thread that runs dry looks for new work before it sleeps. Trades
    /// processor time for the cost of a wake-up; worth it only with cores to spare. Zero: sleeps at
    /// once. Range: 0 to 1 ms. Default 0.
    Duration receive_spin{};

    /// How long nothing may come over a connection before its broker is taken to be gone and the
    /// connection is made anew. The broker is asked for a sign of life twice in that time. Counted
    /// in whole seconds. Without effect in process. Range: 4 s to 1 h. Default 120 s.
    Duration connection_idle_timeout{std::chrono::seconds{120}};

    /// Delays between attempts to connect that fail, or whose connections do not last ten times
    /// `min`. Without effect in process. Default 100 ms to 30 s.
    BackoffOptions reconnect_backoff{};

    /// What carries AMQP to Azure Service Bus. Unset: what the connection string's `TransportType`
    /// says, else tcp. Where both say something it must be the same; message groups have tcp only.
    /// Without effect in process. Default unset.
    std::optional<Transport> transport{};
};

/// Whom a client trusts when it connects over TLS, and how it shows itself. Files are PEM, read by
/// `Client::connect`. An aggregate for designated initialisers; a file that cannot be used throws
/// `Error{Errc::invalid_option}` naming the member.
struct TlsOptions {
    std::string ca_file{}; ///< Who is trusted. Empty: whom the system trusts. Default empty.
    std::string certificate_file{}; ///< Of this client, with its chain. Empty: none is shown.
                                    ///< Default empty.
    std::string key_file{};         ///< Its key. Empty: in `certificate_file`. Default empty.
    bool verify_peer{true}; ///< False: takes any certificate of any host, for tests. Default true.
};

/// The way to a broker: a shared handle to receive threads and the connections they carry. Senders,
/// receivers and processors made from it keep them alive; they end with the last of these. The
/// destructor of the last one waits until the threads have ended, which does not depend on the
/// broker.
///
/// Thread safety:
/// Distinct objects: safe, also when they share a client.
/// Shared objects: safe to read (making things from it is reading).
class Client {
public:
    /// A client of a broker in this process. The broker's queues live as long as the `LocalBroker`
    /// or a client of it.
    ///
    /// Errors: invalid_option (a member of `options`), resource_exhausted (no thread could be
    /// started).
    [[nodiscard]] static Client in_process(const LocalBroker& broker, ClientOptions options = {});

    /// A client of Azure Service Bus, or of what speaks like it, by a connection string:
    /// `Endpoint=sb://HOST[:PORT];SharedAccessKeyName=NAME;SharedAccessKey=KEY[;EntityPath=ENTITY][;UseDevelopmentEmulator=true]`,
    /// or with `SharedAccessSignature=` in place of name and key. With
    /// `UseDevelopmentEmulator=true` the connection is plain TCP, else TLS with the host's name
    /// verified. With `ClientOptions::transport`, or `TransportType=AmqpWebSockets` in the string,
    /// it is a WebSocket, on port 443 unless one is named, for networks that let nothing else out.
    ///
    /// Or of a broker that orders messages by group, ActiveMQ Artemis or Qpid Broker-J, by a URL:
    /// `amqp[s]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/VIRTUAL-HOST][?dialect=artemis|broker-j]`.
    /// A group is a session. Several hosts are tried in order, also after a loss; without `dialect`
    /// the broker says itself what it is. What such a broker lacks fails with `not_supported`,
    /// naming it.
    ///
    /// Connects before it returns, within `operation_timeout`, so that a wrong way to the broker is
    /// known at once; with `EntityPath` the right to that entity is asked for too, otherwise with
    /// the first use of each. After a loss the connection is made anew when it is needed, with
    /// growing waits between failures.
    ///
    /// Azure Service Bus says by its own clock when a session's lock ends. A clock of this machine
    /// that is behind that one by less than ten seconds, or than a lock lasts if that is less,
    /// costs nothing; by more, a session that is held for longer than its lock and gets no message
    /// may be lost, until a fresh message or such a loss shows how far the clocks are apart, which
    /// is remembered for an hour or two. One that is ahead costs renewals only.
    ///
    /// Sources: the form of a connection string, `UseDevelopmentEmulator` and `TransportType` are
    /// those of Microsoft's documentation of Azure Service Bus and its emulator. Azure's present
    /// clients pass over `TransportType` and have a setting for it, as there is here; it is read
    /// here too, as their predecessor in .NET did.
    ///
    /// Errors: the broker's (see `Errc`), of which here: invalid_argument (the connection string or
    /// URL; names its part, never a secret), connection_refused (host unknown, nobody listens),
    /// peer_untrusted (the certificate), not_supported (without `dialect`: the broker is none that
    /// is known), resource_exhausted (no thread could be started). And invalid_option (a member of
    /// `options`, also a `transport` that the string contradicts or the broker does not have; a
    /// file of `tls`).
    [[nodiscard]] static Client connect(std::string_view connection_string,
                                        ClientOptions options = {}, const TlsOptions& tls = {});

    /// The same, for text that may not be there, such as that of an environment variable: null is
    /// invalid_argument.
    [[nodiscard]] static Client connect(const char* connection_string, ClientOptions options = {},
                                        const TlsOptions& tls = {});

    /// The same with tokens in place of a key. `where` is a host with or without a port
    /// ("contoso.servicebus.windows.net", "localhost:5671"), the name of a namespace in Azure's
    /// public cloud ("contoso"), or a connection string that holds no key and no signature. The
    /// credential is kept as long as the client, and may be shared.
    ///
    /// Errors: as above; also invalid_argument (`credential` is null, or the connection string
    /// holds a key).
    template <typename Credential>
    requires std::derived_from<Credential, TokenCredential>
    [[nodiscard]] static Client connect(
        std::string_view where, std::shared_ptr<Credential> credential, ClientOptions options = {},
        const TlsOptions& tls = {}) { // a template, so that {} is still the options of the other
        return connect_with(where, std::move(credential), options, tls);
    }

    [[nodiscard]] const ClientOptions& options() const noexcept;

    /// For sessionq's own parts.
    [[nodiscard]] const std::shared_ptr<client::ClientCore>& core() const noexcept { return core_; }

private:
    static Client connect_with(std::string_view where, std::shared_ptr<TokenCredential> credential,
                               ClientOptions options, const TlsOptions& tls);
    explicit Client(std::shared_ptr<client::ClientCore> core) noexcept;

    std::shared_ptr<client::ClientCore> core_;
};

} // namespace sessionq
