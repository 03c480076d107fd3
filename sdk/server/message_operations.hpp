#pragma once

#include "server/managed_entity.hpp"

namespace sessionq::server::message_operations {

// What can be asked of an entity about single messages. Each answers at once; wire names are in `management.cpp`.

[[nodiscard]] Answer renew_lock(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer peek(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer schedule(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer cancel_scheduled(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer receive_by_sequence(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer update_disposition(const ManagedEntity& entity, const Request& request);

} // namespace sessionq::server::message_operations
