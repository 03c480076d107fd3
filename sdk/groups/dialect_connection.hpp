#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "amqp/codec/encoded_content.hpp"
#include "amqp/connection.hpp"
#include "amqp/connector.hpp"
#include "groups/connection_url.hpp"
#include "groups/host_rotation.hpp"

namespace sessionq::groups {

/// Whose dialect the broker speaks, once known; shared by the endpoints of a client. Thread-safe.
using KnownDialect = std::atomic<const Dialect*>;

struct HubSettings {
    ConnectionUrl url{};
    amqp::TlsContextPtr tls{};
    bool has_certificate{false};
    Duration operation_timeout{std::chrono::seconds{60}};
    Duration idle_timeout{std::chrono::seconds{120}}; ///< without a sign of the peer's life
    BackoffOptions backoff{};                         ///< between rounds over the hosts
    std::uint64_t seed{0};
    std::shared_ptr<KnownDialect> dialect{std::make_shared<KnownDialect>(nullptr)};
};

/// The connection of an endpoint: made when first needed and anew after a loss, to the first of the
/// hosts that lets us in. Bound to the loop.
class Hub final : private amqp::ConnectionOwner {
public:
    Hub(core::EventLoop& loop, asio::io_context& io, HubSettings settings);
    ~Hub() override;
    Hub(const Hub&) = delete;
    Hub& operator=(const Hub&) = delete;

    using ReadyHandler = std::function<void(core::Result<amqp::Engine*>)>;
    /// Connected, and the dialect known. The handler runs now or by a later turn; the engine is for
    /// use at once. Fails when no host lets us in. After `close`: cancelled.
    void ready(ReadyHandler handler);

    /// Ends the connection; what waits is answered with `cancelled`.
    void close();

    [[nodiscard]] core::EventLoop& loop() noexcept { return loop_; }
    [[nodiscard]] amqp::ClockReading reading() const noexcept {
        return {.now = loop_.now(), .wall = loop_.wall_now()};
    }
    /// Null until it is known.
    [[nodiscard]] const Dialect* dialect() const noexcept {
        return settings_.dialect->load(std::memory_order_acquire);
    }

private:
    void on_open(const amqp::Open& peer) override;
    void on_closed(const amqp::Condition& condition) override;

    void connect();
    void connected(core::Result<amqp::StreamPtr> stream);
    void failed(const Failure& why);
    void answer_all(const Failure& why);
    [[nodiscard]] Duration share_of_host() const noexcept;
    [[nodiscard]] amqp::ConnectionOptions options_for(const HostPort& host) const;

    core::EventLoop& loop_;
    HubSettings settings_;
    amqp::ConnectionHost host_;
    HostRotation rotation_;
    TimePoint attempt_until_{};
    std::unique_ptr<amqp::Connector> connector_{};
    std::unique_ptr<amqp::Connection> connection_{};
    std::vector<ReadyHandler> waiting_{};
    bool open_{false};
    bool closed_{false};
    timing::Timer timer_{timing::Timer::calling<&Hub::connect>(this)};
};

} // namespace sessionq::groups
