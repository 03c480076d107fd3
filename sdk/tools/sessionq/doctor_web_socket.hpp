// SPDX-License-Identifier: MIT
#pragma once

#include "amqp/dial.hpp"
#include "tools/sessionq/doctor_facts.hpp"

namespace sessionq::cli {

/// Opens a WebSocket to the target and closes it again. Waits for at most `timeout`.
[[nodiscard]] WebSocketFacts try_web_socket(const amqp::Target& target, Duration timeout);

} // namespace sessionq::cli
