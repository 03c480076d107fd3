// SPDX-License-Identifier: MIT
#pragma once

// Handshakes that lead to a stream. Internal to amqp/.

#include <functional>
#include <memory>

#include "amqp/stream.hpp"

namespace sessionq::amqp {

/// A handshake over a connected socket or stream. Keeps itself alive until it has called `Done`.
/// `cancel` drops it.
class Handshake : public std::enable_shared_from_this<Handshake> {
public:
    /// Called once, from the loop, never within a call. A null stream means that it failed, and
    /// `failure` says why.
    using Done = std::function<void(StreamPtr stream, const Failure& failure)>;

    virtual ~Handshake() = default;
    /// Closes the socket or stream. `Done` is not called after that.
    virtual void cancel() noexcept = 0;
};

using HandshakePtr = std::shared_ptr<Handshake>;

} // namespace sessionq::amqp
