// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sessionq::in_process {

/// Decides in which order an ask for a session of any of several entities asks them: the one that
/// served longest ago comes first, so no entity with sessions starves behind another.
class AskOrder {
public:
    /// The positions in `entities`, in the order in which to ask.
    [[nodiscard]] std::vector<std::size_t> order(std::span<const std::string> entities) const;

    /// The entity had a session when it was asked.
    void served(std::string_view entity);

private:
    [[nodiscard]] std::uint64_t last_served(std::string_view entity) const;

    std::map<std::string, std::uint64_t, std::less<>> last_served_{}; // absent: never
    std::uint64_t count_{0};
};

} // namespace sessionq::in_process
