// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/received_message.hpp>

namespace sessionq::detail::client {

/// Returns the failure of a call that would never end, because the broker repeats itself. `what`
/// says how the broker repeats itself.
[[nodiscard]] inline Failure no_progress(const std::string& what) {
    return {.code = Errc::protocol_error, .detail = "the broker makes no progress: " + what};
}

/// Returns the position after the last message of `page`, where the next peek begins. `page` is
/// not empty, and was requested from the position `from`. Returns nothing if all its messages are
/// before `from`: the broker ignores the position, and would send the same page for ever. Pure.
[[nodiscard]] inline std::optional<std::int64_t> position_behind(
    const std::vector<ReceivedMessage>& page, std::int64_t from) noexcept {
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const ReceivedMessage& message : page) {
        last = std::max(last, message.sequence_number());
    }
    const bool is_further = last >= from && last < std::numeric_limits<std::int64_t>::max();
    return is_further ? std::optional{last + 1} : std::nullopt;
}

} // namespace sessionq::detail::client
