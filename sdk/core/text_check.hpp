// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/message.hpp>

namespace sessionq::core {

/// The fault that keeps application properties from being sent: the rest of a sentence that begins
/// with a name for them. Empty: none. AMQP's texts are UTF-8.
[[nodiscard]] std::string text_fault(const Properties& properties);

} // namespace sessionq::core
