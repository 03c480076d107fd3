// SPDX-License-Identifier: MIT
#pragma once

#include <stop_token>
#include <string>

#include <sessionq/deadline.hpp>

namespace sessionq::dispatch {
class CoroutineHost;
}

namespace sessionq::detail::processor {

class SessionDriver;

/// The session that handlers work with through its `SessionContext`. In a processor it is a
/// `DrivenSession`, and in an application's test a `TestSession`. Any thread.
class HandledSession {
public:
    [[nodiscard]] virtual const std::string& session_id() const noexcept = 0;
    [[nodiscard]] virtual const std::string& entity() const noexcept = 0;
    [[nodiscard]] virtual Deadline lock_expires() const noexcept = 0;
    [[nodiscard]] virtual std::stop_token stop_token() const noexcept = 0;
    virtual void release() noexcept = 0;

    /// Runs the handlers of the session that are coroutines.
    [[nodiscard]] virtual dispatch::CoroutineHost& coroutines() = 0;

    /// Null in an application's test.
    [[nodiscard]] virtual SessionDriver* driver() const noexcept = 0;

protected:
    ~HandledSession() = default;
};

} // namespace sessionq::detail::processor
