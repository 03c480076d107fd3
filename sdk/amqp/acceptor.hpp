// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sessionq/time.hpp>

#include "amqp/admission.hpp"
#include "amqp/connection_host.hpp"
#include "amqp/stream.hpp"
#include "amqp/tls.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

struct ListenSettings {
    std::string address{"127.0.0.1"}; ///< address of an interface; "0.0.0.0" or "::" for all
    std::uint16_t port{5672};         ///< zero: any free port
    TlsContextPtr tls{};              ///< null: no TLS
    std::string web_socket_path{};    ///< the path for AMQP over WebSocket; empty: no WebSocket
    std::vector<std::string> web_socket_origins{}; ///< of web pages that may use it; "*": all
    /// lets several acceptors listen on one port; the system spreads the peers over them
    bool share_port{false};
    Duration handshake_time_out{std::chrono::seconds{10}};
};

/// Listens, and returns each peer's stream once its handshake is complete. Bound to the thread of
/// its host. Destroying it stops listening; the streams live on.
///
/// A peer that the admission does not accept is disconnected at once. One whose handshake is not
/// complete is a guest of the admission; the owner of the stream enters it again. Peers wait to be
/// accepted while the admission is crowded, and while the system has no more file descriptors.
class Acceptor {
public:
    /// Called from the loop. May destroy the acceptor.
    using OnStream = std::function<void(StreamPtr stream)>;

    /// The admission outlives it.
    Acceptor(ConnectionHost& host, Admission& admission, OnStream on_stream);
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;
    ~Acceptor();

    /// Starts listening and returns the port. Call it once. Fails with `invalid_option` for an
    /// invalid address, or `resource_exhausted` if the address is in use or not allowed.
    [[nodiscard]] core::Result<std::uint16_t> listen(const ListenSettings& settings);

private:
    class Listening;
    std::shared_ptr<Listening> listening_;
};

} // namespace sessionq::amqp
