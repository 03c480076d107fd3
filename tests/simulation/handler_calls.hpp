// SPDX-License-Identifier: MIT
#pragma once

namespace sessionq::simulation {

/// Blocking calls that a handler makes, one after the other.
class HandlerCalls {
public:
    virtual ~HandlerCalls() = default;

    /// Makes the next call, if there is one, while the handler runs.
    virtual void go_on() = 0;

    /// Whether a call waits for its answer.
    [[nodiscard]] bool is_asked() const noexcept { return is_asked_; }

protected:
    void asked() noexcept { is_asked_ = true; }
    /// Lets the waiting handler continue.
    void answered() noexcept { is_asked_ = false; }

private:
    bool is_asked_{false};
};

} // namespace sessionq::simulation
