// SPDX-License-Identifier: MIT
#pragma once

#include <stop_token>
#include <string>

#include <sessionq/deadline.hpp>

namespace sessionq::dispatch {
class CoroutineHost;
}

namespace sessionq::processor {

class SessionDriver;

/// What a `SessionContext` shows: a session that a processor holds, or that of an application's
/// test. Any thread.
class HandledSession {
public:
    [[nodiscard]] virtual const std::string& session_id() const noexcept = 0;
    [[nodiscard]] virtual const std::string& entity() const noexcept = 0;
    [[nodiscard]] virtual Deadline lock_expires() const noexcept = 0;
    [[nodiscard]] virtual std::stop_token stop_token() const noexcept = 0;
    virtual void release() noexcept = 0;

    /// Where its handlers that are coroutines run.
    [[nodiscard]] virtual dispatch::CoroutineHost& coroutines() = 0;

    /// Null in an application's test.
    [[nodiscard]] virtual SessionDriver* driver() const noexcept = 0;

protected:
    ~HandledSession() = default;
};

} // namespace sessionq::processor
