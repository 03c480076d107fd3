// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

#include "amqp/engine/attach.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::detail::servicebus {

// The attach of an accept and its answer, in the terms of the protocol. Pure.

/// Asks for the session of the request, or attaches to its entity. `name` names the link.
[[nodiscard]] amqp::Attach to_attach(const ports::AcceptRequest& request, const std::string& name);

/// The session that the broker granted. None if it did not say.
[[nodiscard]] std::optional<std::string> granted_session(const amqp::Attach& answer);

/// The times in the answer, both by the broker's clock.
struct GrantTimes {
    std::optional<WallTime> locked_until{};
    std::optional<WallTime> granted_at{}; ///< Only `sessionqd` says it.
};
[[nodiscard]] GrantTimes grant_times(const amqp::Attach& answer);

} // namespace sessionq::detail::servicebus
