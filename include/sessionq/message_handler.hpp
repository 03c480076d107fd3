// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/basic_handler.hpp>
#include <sessionq/message_context.hpp>

namespace sessionq::inline v1 {

/// Handles messages one by one.
using MessageHandler = BasicHandler<MessageContext&>;

} // namespace sessionq::inline v1
