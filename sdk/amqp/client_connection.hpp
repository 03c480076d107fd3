// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/connection_idleness.hpp>

#include "amqp/connection.hpp"
#include "amqp/connection_keeper.hpp"
#include "amqp/connector.hpp"
#include "core/connection_counts.hpp"
#include "core/connection_status.hpp"
#include "core/weak_handle.hpp"
#include "timing/timer.hpp"

namespace sessionq::amqp {

/// Runs on the loop.
using IdleHandler = std::function<void(ConnectionIdleness)>;

struct ClientConnectionOptions {
    std::vector<Target> hosts{}; ///< At least one; tried in this order.
    std::string hostname{};      ///< For open and SASL; empty: the name of the host connected to.
    SaslCredentials credentials{};
    Duration operation_timeout{std::chrono::seconds{60}}; ///< Of one round over the hosts.
    Duration idle_timeout{std::chrono::seconds{120}}; ///< A peer silent for so long is given up.
    Duration write_idle_timeout{};                    ///< As `ConnectionOptions::write_idle`.
    IdleHandler on_idle{};                            ///< Null: nobody asks.
    BackoffOptions backoff{};
    std::uint64_t seed{0};
    core::ReceiveRoomPtr room{}; ///< For messages over `begin_session`; null: not bounded.
    core::ConnectionCountsPtr counts{std::make_shared<core::ConnectionCounts>()};
    Dial dial{dial_socket};
};

/// Events of a connection, for its dialect, which also explains conditions. Called on the loop.
class ClientConnectionEvents {
public:
    virtual ~ClientConnectionEvents() = default;
    /// The peer opened. A failure closes the connection and is the result of the attempt.
    [[nodiscard]] virtual std::optional<Failure> on_connected(const Open& peer) = 0;
    /// An open connection ended. Its engine is destroyed after this call.
    virtual void on_disconnected(const Failure& why) = 0;
    /// Maps a condition to a failure of this dialect.
    [[nodiscard]] virtual Failure explain(const Condition& condition, std::string what) = 0;
};

/// A client's connection: made when first needed and again after a loss, as a `ConnectionKeeper`
/// decides. Bound to the loop. Not to be destroyed from its events and handlers.
class ClientConnection final : private ConnectionOwner, private ConnectLine::Guest {
public:
    using Handler = ConnectionKeeper::Handler;
    using WaitId = ConnectionKeeper::WaitId;

    ClientConnection(ConnectionHost& host, ClientConnectionOptions options,
                     ClientConnectionEvents& events);
    ~ClientConnection() override;
    ClientConnection(const ClientConnection&) = delete;
    ClientConnection& operator=(const ClientConnection&) = delete;

    /// Runs the handler once the connection is open, now or by a later turn; the engine is for use
    /// at once. Fails when no host could be connected to, with `cancelled` after `close`.
    WaitId when_open(Handler handler);
    /// The handler is dropped.
    void give_up(WaitId id) { keeper_.give_up(id); }
    /// Null unless the connection is open.
    [[nodiscard]] Engine* engine() const noexcept;
    /// Null: there is no connection, or none is left.
    [[nodiscard]] SessionPtr begin_session();
    [[nodiscard]] core::ConnectionStatus status() const;
    [[nodiscard]] const core::ConnectionCounts& counts() const noexcept { return *options_.counts; }
    /// Drops the connection. Handlers that wait are run with `cancelled`.
    void close();

private:
    void on_open(const Open& peer) override;
    void on_session(SessionPtr session) override;
    void on_idle(timing::IdleKind kind, Duration idle) override;
    void on_closed(const Condition& condition) override;
    void on_let_in() override;

    void proceed();
    void connect(std::size_t host);
    void on_stream(core::Result<StreamPtr> stream);
    void on_failed(const Failure& why);
    [[nodiscard]] std::string host_name() const;
    [[nodiscard]] ConnectionOptions connection_options() const;

    ConnectionHost& host_;
    const ClientConnectionOptions options_;
    ClientConnectionEvents& events_;
    ConnectionKeeper keeper_;
    std::size_t target_{0};
    std::uint32_t lost_{0}; ///< connections since the last one was made
    TimePoint attempt_until_{};
    std::unique_ptr<Dialing> dialing_{};
    std::unique_ptr<Connection> connection_{};
    std::optional<Failure> refusal_{};
    std::string last_failure_{};
    timing::Timer timer_{timing::Timer::calling<&ClientConnection::proceed>(this)};
};

} // namespace sessionq::amqp
