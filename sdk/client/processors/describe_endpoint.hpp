// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/clock.hpp"

namespace sessionq::client {

/// Serves a document on a local socket, if `describe_socket` is set. Each process that connects
/// gets the document, one after another, on a thread of its own. Only the user of this process may
/// connect.
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
    class Visits;

    const std::unique_ptr<Visits> visits_;
    std::jthread thread_{};
};

} // namespace sessionq::client
