// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/clock.hpp"

namespace sessionq::detail::client {

/// Tells other processes the state of a processor, over a local socket. Each process that connects
/// gets a JSON document with the state. The endpoint serves one process after another. Only
/// processes of the same user may connect. A thread of its own, `sessionq-tell`, does the work.
/// `ProcessorRuntime` opens the endpoint at its first start, if
/// `SessionProcessorOptions::describe_socket` is set.
class DescribeEndpoint {
public:
    using Document = std::function<std::string()>;

    /// Opens the socket. `document` makes the document, on the endpoint's thread, and may wait.
    /// Throws `invalid_option` if the socket cannot be opened, and `resource_exhausted` if the
    /// thread cannot be started.
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

} // namespace sessionq::detail::client
