#pragma once

#include <string>

namespace sessionq::client {

/// A message id that no other sender makes, in the form of a UUID. Thread-safe, and cheap enough
/// for every message: entropy is asked for once a thread.
[[nodiscard]] std::string make_message_id();

} // namespace sessionq::client
