// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/byte_budget.hpp"
#include "core/receive_room.hpp"

namespace sessionq::groups {

/// Decides how much credit a receiver link gets. Each `GroupTable` has one window, because several
/// groups share the link. The window is wide, so that no group waits for another group. The
/// messages of the window fit into the byte budget (R23). One message is always allowed.
class LinkWindow {
public:
    static constexpr std::uint32_t widest = 2000;

    explicit LinkWindow(double message_bytes = core::ByteBudget::first_guess) noexcept
        : average_{message_bytes} {}

    /// The most bytes of unsettled messages, and of messages that the credit may bring.
    void set_budget(std::size_t bytes) noexcept { budget_ = bytes; }

    /// The account of the messages that the next link brings.
    void set_share(core::ReceiveSharePtr share) noexcept { share_ = std::move(share); }

    /// Returns the credit to add to the outstanding credit. Returns zero until half of the window
    /// is free, so that few flows are sent.
    [[nodiscard]] std::uint32_t grant(std::uint32_t outstanding) const noexcept {
        const double room =
            (static_cast<double>(budget_) - static_cast<double>(held_)) / std::max(average_, 1.0);
        const auto window = static_cast<std::uint32_t>(
            std::clamp(room, held_ == 0 ? 1.0 : 0.0, static_cast<double>(widest)));
        return outstanding < window && (window - outstanding) * 2 >= window ? window - outstanding
                                                                            : 0;
    }
    void arrived(std::size_t bytes) noexcept {
        held_ += bytes;
        if (share_ != nullptr) {
            share_->arrived(bytes);
        }
        average_ += (static_cast<double>(bytes) - average_) / 16;
    }
    void gone(std::size_t bytes) noexcept {
        held_ -= std::min(held_, bytes);
        if (share_ != nullptr) {
            share_->gone(bytes);
        }
    }
    void lost() noexcept {
        held_ = 0;
        share_.reset();
    }
    [[nodiscard]] std::size_t held_bytes() const noexcept { return held_; }

private:
    std::size_t budget_{std::size_t{64} << 20U};
    std::size_t held_{0};
    core::ReceiveSharePtr share_{};
    double average_;
};

} // namespace sessionq::groups
