// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <sessionq/session_context.hpp>

#include "client/calls/operation.hpp"

namespace sessionq::detail::client {

/// Read and write the state of a processor's session, for its handlers.
[[nodiscard]] Operation<std::optional<std::string>> get_state(const SessionContext& session,
                                                              const CallOptions& call);
[[nodiscard]] Operation<core::Done> set_state(const SessionContext& session,
                                              std::optional<std::string> state,
                                              const CallOptions& call);

/// Read and write the state of a processor's session, or of the session of an application's test
/// (`TestSession`).
[[nodiscard]] PublicCall<std::optional<std::string>> read_state(const SessionContext& session,
                                                                const CallOptions& call);
[[nodiscard]] PublicCall<core::Done> write_state(const SessionContext& session,
                                                 std::optional<std::string> state,
                                                 const CallOptions& call);

} // namespace sessionq::detail::client
