// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <sessionq/error.hpp>

namespace sessionq::client {

/// Decides how many messages the next request of a purge deletes, and when the purge is over. Pure.
class PurgeProgress {
public:
    /// Azure Service Bus allows as many in its smallest tier.
    static constexpr std::uint32_t per_request = 500;

    /// `max`: of the whole purge; zero: no limit.
    explicit PurgeProgress(std::uint64_t max) noexcept : max_{max} {}

    [[nodiscard]] std::uint32_t next() const noexcept {
        return max_ == 0 ? per_request
                         : static_cast<std::uint32_t>(
                               std::min<std::uint64_t>(per_request, max_ - deleted_));
    }

    /// A request has deleted so many. Returns whether to ask again.
    [[nodiscard]] bool add(std::uint32_t count) noexcept {
        deleted_ += count;
        return count != 0 && (max_ == 0 || deleted_ < max_);
    }

    [[nodiscard]] std::uint64_t deleted() const noexcept { return deleted_; }

    /// A failure that also says what was deleted before.
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
};

} // namespace sessionq::client
