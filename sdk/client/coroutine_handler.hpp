#pragma once

#include <functional>

#include <asio/awaitable.hpp>

#include <sessionq/message_handler.hpp>

namespace sessionq::client {

/// A handler that is a coroutine, run on the workers of whichever processor it is registered with.
[[nodiscard]] MessageHandler coroutine_handler(
    std::function<asio::awaitable<void>(MessageContext&)> handler);

} // namespace sessionq::client
