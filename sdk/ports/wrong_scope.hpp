// SPDX-License-Identifier: MIT
#pragma once

#include "ports/endpoint.hpp"

namespace sessionq::ports {

/// If an accept failed because the entity has sessions, or has none, the failure names the class to
/// use instead. Other failures are returned as they are.
[[nodiscard]] Failure explain_scope(Failure why, const std::string& entity, Scope asked);

} // namespace sessionq::ports
