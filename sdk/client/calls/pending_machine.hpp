// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>

namespace sessionq::detail::client {

/// Decides which answer ends an operation: the first one (R15). Each `Pending` has a machine. If
/// the operation is given up, the giving up is an answer, too. But while a port works on the
/// operation, only the port's answer ends it, because the port knows whether the request was sent.
class PendingMachine {
public:
    enum class Phase : std::uint8_t { open, at_port, given_up, ended };

    /// The step that the caller of `give_up` must take.
    enum class GiveUp : std::uint8_t {
        nothing, ///< The operation has ended, or the port knows.
        answer,  ///< Answer the operation.
        at_port, ///< Tell the port, which will answer.
    };

    /// A port works on the operation from now on. Returns false if the operation was given up or
    /// has ended. Then nobody will give it up at the port.
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

    /// An answer came. Returns true if it is the first answer. Only that one counts.
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

} // namespace sessionq::detail::client
