// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>

namespace sessionq::client {

/// Decides which answer ends an operation: the first answer (R15). Each `Pending` has a machine. If
/// the operation is given up, that is an answer, too. But while a port works on the operation, only
/// the port's answer ends it, because the port knows whether the request was sent.
class PendingMachine {
public:
    enum class Phase : std::uint8_t { open, at_port, given_up, ended };

    /// The step that giving up needs.
    enum class GiveUp : std::uint8_t {
        nothing, ///< It has ended, or the port was told.
        answer,  ///< Answer it.
        at_port, ///< Tell the port. Its answer will come.
    };

    /// A port works on the operation from now on. False: giving it up does not concern the port.
    [[nodiscard]] bool ask_port() noexcept {
        if (phase_ == Phase::open) {
            phase_ = Phase::at_port;
        }
        return phase_ == Phase::at_port;
    }

    /// The operation is given up. Returns the step that this needs.
    [[nodiscard]] GiveUp give_up(Errc why) noexcept {
        if (phase_ == Phase::open) {
            phase_ = Phase::ended;
            return GiveUp::answer;
        }
        if (phase_ == Phase::at_port) {
            phase_ = Phase::given_up;
            why_ = why;
            return GiveUp::at_port;
        }
        return GiveUp::nothing;
    }

    /// An answer came. True for the first one, which counts.
    [[nodiscard]] bool end() noexcept {
        const bool first = phase_ != Phase::ended;
        phase_ = Phase::ended;
        return first;
    }

    [[nodiscard]] Phase phase() const noexcept { return phase_; }

    /// Why the operation was given up while the port worked on it.
    [[nodiscard]] const std::optional<Errc>& given_up_as() const noexcept { return why_; }

private:
    Phase phase_{Phase::open};
    std::optional<Errc> why_{};
};

} // namespace sessionq::client
