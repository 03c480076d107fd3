// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <optional>
#include <string>

#include <sessionq/completion.hpp>
#include <sessionq/session_context.hpp>

#include "processor/shard_call.hpp"

namespace sessionq::detail::processor {

class SessionDriver;

/// A call of on_session_open or on_session_close. `SessionDriver` makes the call when its session
/// opens or closes, and puts it into the lane like a message. After the handler has ended, the lane
/// stays on hold until the loop has taken the notice of the end. A handler that ends later keeps
/// the lane to itself, too, but no worker.
class SessionCall final : public ShardCall {
public:
    /// With a reason, the call runs on_session_close. Without a reason, it runs on_session_open.
    /// The reason is a copy, because the session's own reason may change while the call runs.
    SessionCall(SessionDriver& driver, std::optional<CloseReason> closes);

    dispatch::Verdict run() noexcept override;
    void noticed() override;

    [[nodiscard]] bool opens() const noexcept { return !closes_; }
    /// The text of the handler's exception. Unset: the handler succeeded.
    [[nodiscard]] const std::optional<std::string>& failure() const noexcept { return failure_; }

private:
    void call_handler();
    void start_handler(Completion completion);
    [[nodiscard]] SessionView& session_view() const noexcept override;
    void handler_ended(std::exception_ptr error) noexcept override;
    dispatch::Verdict conclude() noexcept override;

    SessionDriver* driver_;
    SessionContext context_;
    const std::optional<CloseReason> closes_;
    std::optional<std::string> failure_{};
};

} // namespace sessionq::detail::processor
