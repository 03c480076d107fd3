// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include "client/socket_path.hpp"
#include "core/clock.hpp"

namespace sessionq::client {

/// A local socket that tells a document to whoever connects, one after another, on a thread of its
/// own. Only the user of this process may connect.
class DescribeEndpoint {
public:
    using Document = std::function<std::string()>;

    /// Opens the socket. `document` runs on the endpoint's thread and may wait. Throws
    /// `invalid_option` if the socket cannot be opened, `resource_exhausted` if no thread starts.
    DescribeEndpoint(const std::string& path, Document document, const core::Clock& clock);
    /// Waits for a document that is being made. Removes the socket.
    ~DescribeEndpoint();
    DescribeEndpoint(const DescribeEndpoint&) = delete;
    DescribeEndpoint& operator=(const DescribeEndpoint&) = delete;

private:
    using Protocol = asio::local::stream_protocol;

    void accept();
    void tell();
    void end_visit();
    void accept_later();

    Document document_;
    const core::Clock& clock_;
    asio::io_context context_{1};
    Protocol::acceptor acceptor_{context_};
    Protocol::socket visitor_{context_};
    asio::steady_timer timer_{context_}; ///< one visit, or the wait after a failed accept
    std::string text_{};                 ///< being sent
    SocketPath path_;                    ///< ends before the acceptor, so nobody finds it refused
    std::jthread thread_{};
};

} // namespace sessionq::client
