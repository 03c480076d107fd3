// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// The most messages that one call deletes. Azure Service Bus has the same bound.
inline constexpr std::uint32_t most_deleted = 4000;

/// Which messages to delete, the oldest first.
struct DeleteSpec {
    std::uint32_t max{0};
    WallTime enqueued_before{};
    std::optional<std::string> session_id{}; ///< set: of this session only
    std::int64_t from{0};                    ///< look at this sequence number and higher ones
};

/// The result of a turn of deleting.
struct Deleted {
    std::uint32_t count{0};
    std::int64_t searched_to{0}; ///< go on from this number
    bool is_complete{true};      ///< `max` are deleted, or there are no more
};

} // namespace sessionq::broker
