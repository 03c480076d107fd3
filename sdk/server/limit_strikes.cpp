// SPDX-License-Identifier: MIT
#include "server/limit_strikes.hpp"

#include <utility>

namespace sessionq::server {
namespace {

constexpr Duration pause = std::chrono::minutes{1};

} // namespace

std::optional<std::string> LimitStrikes::note(std::string_view bound, TimePoint now) {
    auto found = strikes_.find(bound);
    if (found == strikes_.end()) {
        found = strikes_.emplace(bound, Strikes{}).first;
    }
    Strikes& strikes = found->second;
    ++strikes.count;
    if (strikes.told != 0 && now < strikes.next) {
        return std::nullopt;
    }
    const std::uint64_t since = strikes.count - std::exchange(strikes.told, strikes.count);
    strikes.next = now + pause;
    std::string line = "a limit was met: " + found->first;
    if (since > 1) {
        line += " (" + std::to_string(since) + " times since the last such line)";
    }
    return line;
}

std::string LimitStrikes::describe() const {
    std::string text;
    for (const auto& [bound, strikes] : strikes_) {
        text += std::to_string(strikes.count) + " times: " + bound + "\n";
    }
    return text;
}

} // namespace sessionq::server
