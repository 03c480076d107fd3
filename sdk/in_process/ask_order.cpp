// SPDX-License-Identifier: MIT
#include "in_process/ask_order.hpp"

#include <algorithm>
#include <numeric>

namespace sessionq::in_process {

std::vector<std::size_t> AskOrder::order(std::span<const std::string> entities) const {
    std::vector<std::size_t> positions(entities.size());
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    std::ranges::stable_sort(positions, {},
                             [&](std::size_t at) { return last_served(entities[at]); });
    return positions;
}

void AskOrder::served(std::string_view entity) {
    auto at = last_served_.find(entity);
    if (at == last_served_.end()) {
        at = last_served_.emplace(entity, 0).first;
    }
    at->second = ++count_;
}

std::uint64_t AskOrder::last_served(std::string_view entity) const {
    const auto at = last_served_.find(entity);
    return at == last_served_.end() ? 0 : at->second;
}

} // namespace sessionq::in_process
