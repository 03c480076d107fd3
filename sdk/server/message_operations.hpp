// SPDX-License-Identifier: MIT
#pragma once

#include "server/managed_entity.hpp"

namespace sessionq::server::message_operations {

// The `$management` operations on messages. A long one goes on in turns, a peek may ask to be held.
// `management.cpp` maps wire names to them.

[[nodiscard]] Answer renew_lock(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer peek(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer schedule(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer cancel_scheduled(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer receive_by_sequence(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer batch_delete(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer update_disposition(const ManagedEntity& entity, const Request& request);

} // namespace sessionq::server::message_operations
