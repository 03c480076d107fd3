// SPDX-License-Identifier: MIT
#pragma once

#include "ports/endpoint.hpp"

namespace sessionq::ports {

/// A port calls it for an accept that failed. If the entity has sessions and none was asked for, or
/// the reverse, the failure names the class to use instead. Other failures are returned unchanged.
[[nodiscard]] Failure explain_scope(Failure why, const std::string& entity, Scope asked);

} // namespace sessionq::ports
