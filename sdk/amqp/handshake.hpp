#pragma once

// Streams that are about to be made; for amqp/'s own sources.

#include <functional>
#include <memory>

#include "amqp/stream.hpp"

namespace sessionq::amqp {

/// What is agreed on over a connected socket or stream before a stream comes of it. Keeps itself
/// alive until it has told; `cancel` drops it.
class Handshake : public std::enable_shared_from_this<Handshake> {
public:
    /// Called once, from the loop, never from within a call. A null stream: it failed, and
    /// `failure` says why.
    using Done = std::function<void(StreamPtr stream, const Failure& failure)>;

    virtual ~Handshake() = default;
    /// Closes what it works on; nobody is told after that.
    virtual void cancel() noexcept = 0;
};

using HandshakePtr = std::shared_ptr<Handshake>;

} // namespace sessionq::amqp
