#pragma once

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

/// Where a stream leads.
struct Target {
    std::string host{}; ///< a name or an address
    std::uint16_t port{5672};
    TlsContextPtr tls{};           ///< null: none
    std::string web_socket_path{}; ///< AMQP over WebSocket, at this path; empty: not
};

/// An attempt to get a stream, under way. Bound to the thread of its host. Destroying it drops the
/// attempt; nobody is told then.
class Dialing {
public:
    Dialing() = default;
    Dialing(const Dialing&) = delete;
    Dialing& operator=(const Dialing&) = delete;
    virtual ~Dialing() = default;
};

/// Told once, from the loop, never from within the call that began the attempt; may destroy the
/// attempt.
using Dialed = std::function<void(core::Result<StreamPtr> stream)>;

/// Where streams come from: begins an attempt to reach the target, which ends by the deadline.
/// Fails with `connection_refused`, `peer_untrusted` or `timeout`.
using Dial = std::function<std::unique_ptr<Dialing>(ConnectionHost& host, const Target& target,
                                                    TimePoint deadline, Dialed dialed)>;

} // namespace sessionq::amqp
