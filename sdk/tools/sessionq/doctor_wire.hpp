// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "amqp/dial.hpp"
#include "tools/sessionq/doctor_facts.hpp"

namespace sessionq::cli {

/// Looks at the way to a broker, step by step, on a connection of its own. Each step follows the
/// one before it, waits for at most `timeout`, and returns the facts that it found. The resolver of
/// the system cannot be interrupted: the destructor waits for it.
class WireProbe {
public:
    /// The target outlives the probe.
    WireProbe(const amqp::Target& target, Duration timeout);

    [[nodiscard]] bool has_proxy() const noexcept { return has_proxy_; }

    [[nodiscard]] NameFacts resolve();
    [[nodiscard]] ConnectFacts connect();
    [[nodiscard]] TunnelFacts open_tunnel();
    /// Shakes hands even if the certificate is bad, so that it can be reported. Without TLS in the
    /// target it finds out whether the peer speaks TLS nevertheless.
    [[nodiscard]] TlsFacts shake_hands();

private:
    /// Runs the operation that was started. False: it took too long, and was given up.
    template <typename GiveUp>
    bool run(const bool& done, GiveUp give_up);

    const amqp::Target& target_;
    const Duration timeout_;
    const bool has_proxy_;
    const core::HostPort first_; // the peer to connect to: the broker or the proxy
    asio::io_context io_{1};
    asio::ip::tcp::resolver::results_type found_{};
    asio::ip::tcp::socket socket_{io_};
};

} // namespace sessionq::cli
