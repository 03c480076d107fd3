#pragma once

#include "server/managed_entity.hpp"

namespace sessionq::server::session_operations {

// What can be asked of an entity about its sessions. Each answers at once; wire names are in `management.cpp`.

[[nodiscard]] Answer renew_session_lock(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer set_session_state(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer get_session_state(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer list_sessions(const ManagedEntity& entity, const Request& request);

} // namespace sessionq::server::session_operations
