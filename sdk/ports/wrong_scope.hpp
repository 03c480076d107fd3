// SPDX-License-Identifier: MIT
#pragma once

#include "ports/endpoint.hpp"

namespace sessionq::ports {

/// Explains why an accept failed. If the entity has sessions and the accept asked for none, or the
/// reverse, the returned failure names the class to use instead. Other failures are returned
/// unchanged. The ports call it.
[[nodiscard]] Failure explain_scope(Failure why, const std::string& entity, Scope asked);

} // namespace sessionq::ports
