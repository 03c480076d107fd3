#pragma once

#include <functional>

#include <asio/awaitable.hpp>

#include <sessionq/message_handler.hpp>

namespace sessionq::client {

/// Makes a handler from a coroutine. It runs on the workers of its processor.
[[nodiscard]] MessageHandler coroutine_handler(
    std::function<asio::awaitable<void>(MessageContext&)> handler);

} // namespace sessionq::client
