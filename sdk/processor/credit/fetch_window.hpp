// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <sessionq/time.hpp>

#include "core/byte_budget.hpp"

namespace sessionq::detail::processor {

/// Decides how many messages of a session are fetched ahead, so that handlers need not wait for the
/// link. `SessionFlow` owns one window for each session.
///
/// The application may set the size of the window (`SessionProcessorOptions::prefetch`). If it sets
/// no size, the window doubles when handlers had to wait although the broker had more messages. The
/// window halves when half of it was never used. It stays within a quarter of the session's share
/// of the budget. No I/O, no clock.
class FetchWindow {
public:
    static constexpr std::uint32_t most = 10'000;
    /// The window grows only if handlers waited for messages at least as long as `worth`. A shorter
    /// wait may come from threads that wait for a CPU, and more messages would only spoil the CPU's
    /// caches. If all windows of the receive thread together would hold at most `small` messages,
    /// any wait lets the window grow.
    static constexpr Duration worth = std::chrono::milliseconds{5};
    static constexpr std::size_t small = 1024;

    FetchWindow(core::ByteBudget& budget, std::uint32_t configured, std::uint32_t handled) noexcept
        : budget_{budget}, configured_{configured} {
        limit_handled(handled);
        size_ = least_;
        budget_.join();
    }
    ~FetchWindow() { budget_.part(); }
    FetchWindow(const FetchWindow&) = delete;
    FetchWindow& operator=(const FetchWindow&) = delete;

    [[nodiscard]] std::uint32_t size() const noexcept {
        return std::clamp(size_, least_, std::max(least_, most_now()));
    }

    /// Sets how many messages handlers may have at once. The window begins with twice as many.
    void limit_handled(std::uint32_t messages) noexcept {
        handled_ = messages;
        least_ = least(configured_, messages);
    }
    /// Sets another size. Zero: the window chooses its size from now on, and begins anew.
    void configure(std::uint32_t configured) noexcept {
        if (std::exchange(configured_, configured) != configured) {
            limit_handled(handled_);
            resize(least_);
        }
    }

    /// The size that a session starts with.
    [[nodiscard]] static std::uint32_t least(std::uint32_t configured,
                                             std::uint32_t handled) noexcept {
        return configured != 0 ? configured : std::max<std::uint32_t>(32, 2 * handled);
    }

    /// A message came. `used_up`: it used the last credit, so the broker may have more.
    void arrived(bool used_up, TimePoint now) noexcept {
        has_waited_ = has_waited_ || (dry_since_ <= now && now - dry_since_ >= least_wait());
        dry_since_ = TimePoint::max();
        if (has_waited_ && used_up) {
            has_waited_ = false;
            resize(std::min(size() * 2, most));
        }
    }

    /// A handler ended. `held`: the messages that came and have not left. `is_dry`: no message
    /// waits for a handler.
    void ended(std::uint32_t held, bool is_dry, TimePoint now) noexcept {
        if (is_dry) {
            dry_since_ = now;
        }
        least_held_ = std::min(least_held_, held);
        if (++ended_ >= size()) {
            resize(least_held_ > size() / 2 ? size() / 2 : size_);
        }
    }

private:
    [[nodiscard]] std::uint32_t most_now() const noexcept {
        return configured_ != 0 ? configured_ : std::min(most, budget_.share() / 4);
    }
    /// How long handlers must have waited before the window grows.
    [[nodiscard]] Duration least_wait() const noexcept {
        return budget_.sharers() * size() * 2 <= small ? Duration::zero() : worth;
    }
    void resize(std::uint32_t size) noexcept {
        size_ = size;
        ended_ = 0;
        least_held_ = std::numeric_limits<std::uint32_t>::max();
    }

    core::ByteBudget& budget_;
    std::uint32_t configured_;
    std::uint32_t handled_{0}; ///< the most messages that handlers have at once
    std::uint32_t least_{0};
    std::uint32_t size_{0};
    TimePoint dry_since_{TimePoint::max()}; ///< since when handlers lack messages; max: they have
                                            ///< some, or had none yet
    bool has_waited_{false};                ///< handlers have waited since the window grew last
    std::uint32_t ended_{0};                ///< handlers that ended since the size was decided
    std::uint32_t least_held_{
        std::numeric_limits<std::uint32_t>::max()}; ///< the fewest messages held since then
};

} // namespace sessionq::detail::processor
