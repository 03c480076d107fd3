// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/message.hpp>

namespace sessionq::core {

/// What keeps application properties from being sent: the rest of a sentence that begins with what
/// they are. Empty: nothing. AMQP's texts are UTF-8.
[[nodiscard]] std::string text_fault(const Properties& properties);

} // namespace sessionq::core
