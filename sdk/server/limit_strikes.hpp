// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::server {

/// Counts how often peers have met each bound of a server, and decides which lines are logged.
/// Pure.
class LimitStrikes {
public:
    /// A peer met the bound. Returns the line to log: the first time, and then at most one a minute
    /// and bound.
    [[nodiscard]] std::optional<std::string> note(std::string_view bound, TimePoint now);

    /// A line for each bound that was met, with its count. Empty if none was.
    [[nodiscard]] std::string describe() const;

private:
    struct Strikes {
        std::uint64_t count{0};
        std::uint64_t told{0};
        TimePoint next{};
    };
    std::map<std::string, Strikes, std::less<>> strikes_{};
};

} // namespace sessionq::server
