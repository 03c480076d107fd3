// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace sessionq::client {

/// Makes a unique message id in the form of a UUID. Thread-safe. It is cheap, because it asks for
/// entropy once a thread.
[[nodiscard]] std::string make_message_id();

} // namespace sessionq::client
