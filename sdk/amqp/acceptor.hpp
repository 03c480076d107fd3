#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <sessionq/time.hpp>

#include "amqp/connection_host.hpp"
#include "amqp/stream.hpp"
#include "amqp/tls.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

struct ListenSettings {
    std::string address{"127.0.0.1"}; ///< of an interface; "0.0.0.0" or "::" for all
    std::uint16_t port{5672};         ///< zero: one that is free
    TlsContextPtr tls{};              ///< null: none
    std::string web_socket_path{}; ///< AMQP over WebSocket, for requests for this path; empty: not
    bool share_port{false}; ///< several acceptors listen on the same port, and the system spreads
                            ///< the peers over them
    Duration handshake_time_out{std::chrono::seconds{10}};
    std::size_t most_handshakes{
        256}; ///< at the same time; peers beyond it wait in the system's queue
};

/// Listens, and hands over each peer's stream once it is agreed on. Bound to the thread of its
/// host. Destroying it stops listening; streams handed over live on.
class Acceptor {
public:
    /// Told from the loop. May destroy the acceptor.
    using OnStream = std::function<void(StreamPtr stream)>;

    Acceptor(ConnectionHost& host, OnStream on_stream);
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;
    ~Acceptor();

    /// Once. The port it listens on, or why it cannot: `invalid_option` (no such address),
    /// `resource_exhausted` (the address is in use, not allowed, ...).
    [[nodiscard]] core::Result<std::uint16_t> listen(const ListenSettings& settings);

private:
    class Listening;
    std::shared_ptr<Listening> listening_;
};

} // namespace sessionq::amqp
