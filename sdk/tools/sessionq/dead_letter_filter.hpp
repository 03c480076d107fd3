// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <sessionq/received_message.hpp>
#include <sessionq/time.hpp>

namespace sessionq::cli {

/// Which dead letters a command means. What is unset holds for all.
struct DeadLetterFilter {
    std::optional<std::string> session{};
    std::optional<std::string> reason{};
    std::optional<Duration> older_than{}; ///< counted from when the message was first enqueued

    [[nodiscard]] bool matches(const ReceivedMessage& message, WallTime now) const;
};

} // namespace sessionq::cli
