// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <sessionq/session_context.hpp>

namespace sessionq::detail::processor {

/// Decides which slots of a shard are wanted, and why the others are not. `SlotTable` asks it for
/// each slot after a change of limits, a pause, a resume and a stop. No I/O, no clock.
class SlotDemand {
public:
    /// The first `slots` slots are wanted, unless a pause or a stop wants none.
    void limit(std::uint32_t slots) noexcept { slots_ = slots; }
    /// No slot is wanted until `resume`.
    void pause() noexcept {
        if (!none_for_) {
            none_for_ = CloseReason::paused;
        }
    }
    void resume() noexcept {
        if (none_for_ == CloseReason::paused) {
            none_for_.reset();
        }
    }
    /// No slot is wanted any more.
    void stop() noexcept { none_for_ = CloseReason::stopped; }

    /// The reason why the slot must have no session. Unset: the slot is wanted.
    [[nodiscard]] std::optional<CloseReason> unwanted(std::size_t slot) const noexcept {
        if (!none_for_ && slot >= slots_) {
            return CloseReason::limit_lowered;
        }
        return none_for_;
    }
    [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }

private:
    std::uint32_t slots_{0};
    std::optional<CloseReason> none_for_{};
};

} // namespace sessionq::detail::processor
