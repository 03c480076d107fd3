// SPDX-License-Identifier: MIT
#pragma once

#include <stop_token>
#include <string>

#include <sessionq/time.hpp>

namespace sessionq::cli {

/// Connects to a Unix domain socket and reads all bytes until the end. Blocks for at most
/// `timeout`. Throws std::runtime_error: nobody answers, not in time, with more than 64 MiB, or a
/// stop was requested.
[[nodiscard]] std::string read_socket_document(const std::string& path, Duration timeout,
                                               const std::stop_token& stop);

} // namespace sessionq::cli
