// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <sessionq/session_context.hpp>

#include "processor/shard_call.hpp"

namespace sessionq::processor {

class SessionDriver;

/// A call of on_session_open or on_session_close: goes through the lane like a message, with the
/// lane on hold behind it.
class SessionCall final : public ShardCall {
public:
    /// With a reason on_session_close, as it was when the call was queued: the session's may change
    /// while it runs.
    SessionCall(SessionDriver& driver, std::optional<CloseReason> closes) noexcept
        : driver_{&driver}, closes_{closes} {}

    dispatch::Verdict run() noexcept override;
    void noticed() override;

    [[nodiscard]] bool opens() const noexcept { return !closes_; }
    /// What the handler threw; nothing when it returned.
    [[nodiscard]] const std::optional<std::string>& failure() const noexcept { return failure_; }

private:
    void call_handler();

    SessionDriver* driver_;
    const std::optional<CloseReason> closes_;
    std::optional<std::string> failure_{};
};

} // namespace sessionq::processor
