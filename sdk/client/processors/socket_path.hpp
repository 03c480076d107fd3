// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <string>

#include <asio/local/stream_protocol.hpp>

namespace sessionq::client {

/// The name of a local socket in the file system, from its binding to its removal.
class SocketPath {
public:
    /// Binds `acceptor` to `path` and lets it listen. A socket that a process left behind there is
    /// replaced. Throws `invalid_option`, naming `describe_socket`.
    SocketPath(std::string path, asio::local::stream_protocol::acceptor& acceptor);
    /// Removes it, unless another one has taken its place.
    ~SocketPath();
    SocketPath(const SocketPath&) = delete;
    SocketPath& operator=(const SocketPath&) = delete;

private:
    std::string path_;
    struct ::stat bound_ {}; ///< which file it is
};

} // namespace sessionq::client
