// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include <sessionq/failure_policy.hpp>

#include "processor/session_view.hpp"

namespace sessionq::processor {

/// Asks the application which policy a failure has (`on_failure` of a processor). Null: as
/// configured, also if the application throws or returns an invalid policy, which is reported. On a
/// worker.
[[nodiscard]] std::unique_ptr<FailurePolicy> choose_policy(const SessionView& session,
                                                           const ReceivedMessage& message,
                                                           std::uint32_t attempt,
                                                           std::exception_ptr error) noexcept;

} // namespace sessionq::processor
