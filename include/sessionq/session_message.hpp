// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/locked_message.hpp>

namespace sessionq {

/// A message of a session. The session's lock holds it.
using SessionMessage = LockedMessage;

} // namespace sessionq
