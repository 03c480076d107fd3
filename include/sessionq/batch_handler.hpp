// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <sessionq/basic_handler.hpp>
#include <sessionq/message_context.hpp>

namespace sessionq::inline v1 {

/// Handles batches of messages. The messages of a batch are of one session and in order. There is
/// at least one.
///
/// Example:
///
///     processor.on_messages([](std::span<MessageContext> batch) {
///         for (MessageContext& context : batch) {
///             std::cout << context.message().text() << '\n';
///             context.complete(); // if a later one throws, this one is done
///         }
///     });
using BatchHandler = BasicHandler<std::span<MessageContext>>;

} // namespace sessionq::inline v1
