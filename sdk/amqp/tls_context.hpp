// SPDX-License-Identifier: MIT
#pragma once

// The OpenSSL part of tls.hpp. For amqp/, and for tools that look at a connection.

#include <string>

#include <asio/ssl/context.hpp>

#include "amqp/tls.hpp"

namespace sessionq::amqp {

class TlsContext {
public:
    explicit TlsContext(asio::ssl::context::method method) : ssl{method} {}

    asio::ssl::context ssl;
    std::string server_name{};
    bool verify{true};
};

} // namespace sessionq::amqp
