// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <sessionq/error.hpp>

namespace sessionq::detail::client {

/// Decides how many messages the next request of a purge deletes, and when the purge ends.
/// `PurgeRun` tells it each answer. Pure.
class PurgeProgress {
public:
    /// The most messages of one request. Azure Service Bus allows as many in its smallest tier.
    static constexpr std::uint32_t per_request = 500;

    /// A broker may delete fewer messages than it is asked for although more are left, because of
    /// partitions and locks. An answer is small if it is below a sixteenth of the request. After
    /// more than `most_small` small answers in a row, the purge gives up. Otherwise a broker that
    /// always says "1 deleted" would keep the purge going for ever.
    static constexpr std::uint32_t most_small = 250;
    static constexpr std::uint32_t small_share = 16;

    /// `max`: of the whole purge; zero: no limit.
    explicit PurgeProgress(std::uint64_t max) noexcept : max_{max} {}

    [[nodiscard]] std::uint32_t next() const noexcept {
        return max_ == 0 ? per_request
                         : static_cast<std::uint32_t>(
                               std::min<std::uint64_t>(per_request, max_ - deleted_));
    }

    enum class Next : std::uint8_t { ask, done, no_progress };
    /// A request has deleted `count` messages. Decides whether to ask again.
    [[nodiscard]] Next add(std::uint32_t count) noexcept {
        const bool is_small = std::uint64_t{count} * small_share < next();
        deleted_ += count;
        small_ = is_small ? small_ + 1 : 0;
        if (count == 0 || (max_ != 0 && deleted_ >= max_)) {
            return Next::done;
        }
        return small_ > most_small ? Next::no_progress : Next::ask;
    }

    [[nodiscard]] std::uint64_t deleted() const noexcept { return deleted_; }

    /// A failure that also says how many messages were deleted before.
    [[nodiscard]] Failure describe(Failure failure) const {
        if (deleted_ != 0) {
            failure.detail += (failure.detail.empty() ? "" : "; ") + std::to_string(deleted_) +
                              " messages were deleted before";
        }
        return failure;
    }

private:
    const std::uint64_t max_;
    std::uint64_t deleted_{0};
    std::uint32_t small_{0}; // small answers in a row
};

} // namespace sessionq::detail::client
