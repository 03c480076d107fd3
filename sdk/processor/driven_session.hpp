// SPDX-License-Identifier: MIT
#pragma once

#include "processor/handled_session.hpp"

namespace sessionq::processor {

/// The session of a driver, as its handlers see it.
class DrivenSession final : public HandledSession {
public:
    explicit DrivenSession(SessionDriver& driver) noexcept : driver_{driver} {}

    [[nodiscard]] const std::string& session_id() const noexcept override;
    [[nodiscard]] const std::string& entity() const noexcept override;
    [[nodiscard]] Deadline lock_expires() const noexcept override;
    [[nodiscard]] std::stop_token stop_token() const noexcept override;
    void release() noexcept override;
    [[nodiscard]] dispatch::CoroutineHost& coroutines() override;
    [[nodiscard]] SessionDriver* driver() const noexcept override { return &driver_; }

private:
    SessionDriver& driver_;
};

} // namespace sessionq::processor
