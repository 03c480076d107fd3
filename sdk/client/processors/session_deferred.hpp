// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <sessionq/session_context.hpp>

#include "client/calls/operation.hpp"
#include "client/receiving/receive_book.hpp"

namespace sessionq::detail::client {

/// Receives deferred messages of a processor's session, for its handlers.
[[nodiscard]] PublicCall<Deliveries, std::vector<LockedMessage>> receive_deferred(
    const SessionContext& session, std::vector<std::int64_t> sequence_numbers,
    const CallOptions& call);

} // namespace sessionq::detail::client
