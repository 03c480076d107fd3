// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/locked_message.hpp>

namespace sessionq::inline v1 {

/// A message of a session. The session's lock holds it.
using SessionMessage = LockedMessage;

} // namespace sessionq::inline v1
