// SPDX-License-Identifier: MIT
#pragma once

#include "server/managed_entity.hpp"

namespace sessionq::server::session_operations {

// The `$management` operations on sessions. Each answers at once. `management.cpp` maps wire names
// to them.

[[nodiscard]] Answer renew_session_lock(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer set_session_state(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer get_session_state(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer list_sessions(const ManagedEntity& entity, const Request& request);

} // namespace sessionq::server::session_operations
