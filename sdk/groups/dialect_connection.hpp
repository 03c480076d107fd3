// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "amqp/client_connection.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "groups/connection_url.hpp"

namespace sessionq::groups {

/// The broker's dialect, null until known. Shared by the endpoints of a client. Thread-safe.
using KnownDialect = std::atomic<const Dialect*>;

/// The settings of an endpoint's connection. The client makes them from its URL and
/// `ClientOptions`.
struct EndpointSettings {
    ConnectionUrl url{};
    amqp::TlsContextPtr tls{};
    std::shared_ptr<const amqp::Proxy> proxy{}; ///< Null: none.
    bool has_certificate{false};
    Duration operation_timeout{std::chrono::seconds{60}};
    Duration idle_timeout{std::chrono::seconds{120}}; ///< A broker silent for so long is given up.
    Duration write_idle_timeout{};                    ///< As in `ClientConnectionOptions`.
    amqp::IdleHandler on_idle{};                      ///< Null: nobody asks.
    BackoffOptions backoff{};                         ///< Between rounds over the hosts.
    std::uint64_t seed{0};
    std::shared_ptr<KnownDialect> dialect{std::make_shared<KnownDialect>(nullptr)};
};

/// The AMQP connection of an endpoint to a broker with message groups. Receiver links and senders
/// get its engine from `when_open`. If the URL does not name the broker's dialect, the connection
/// learns the dialect from the broker's open. Bound to the loop.
class DialectConnection final : private amqp::ClientConnectionEvents {
public:
    DialectConnection(core::EventLoop& loop, asio::io_context& io,
                      const EndpointSettings& settings);
    DialectConnection(const DialectConnection&) = delete;
    DialectConnection& operator=(const DialectConnection&) = delete;

    /// Calls the handler with an engine once the connection is open, as
    /// `ClientConnection::when_open` does. The dialect is known then.
    void when_open(amqp::ClientConnection::Handler handler) {
        connection_.when_open(std::move(handler));
    }
    void close() { connection_.close(); }
    [[nodiscard]] core::ConnectionStatus status() const { return connection_.status(); }
    [[nodiscard]] const core::ConnectionCounts& counts() const noexcept {
        return connection_.counts();
    }

    [[nodiscard]] core::EventLoop& loop() const noexcept { return loop_; }
    [[nodiscard]] amqp::ClockReading reading() const noexcept {
        return {.now = loop_.now(), .wall = loop_.wall_now()};
    }
    [[nodiscard]] const Dialect* dialect() const noexcept {
        return dialect_->load(std::memory_order_acquire);
    }
    /// The capabilities of the dialect; until it is known, the capabilities that all dialects have.
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept;

private:
    std::optional<Failure> on_connected(const amqp::Open& peer) override;
    void on_disconnected(const Failure&) override {} // each link hears of it by itself
    Failure explain(const amqp::Condition& condition, std::string what) override;

    core::EventLoop& loop_;
    const std::shared_ptr<KnownDialect> dialect_;
    amqp::ConnectionHost host_;
    amqp::ClientConnection connection_;
};

} // namespace sessionq::groups
