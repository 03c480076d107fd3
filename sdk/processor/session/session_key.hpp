// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace sessionq::detail::processor {

using SessionKey = std::pair<std::string, std::string>; ///< the entity and the session id

struct SessionKeyHash {
    std::size_t operator()(const SessionKey& key) const noexcept {
        return std::hash<std::string>{}(key.second) * 31 + std::hash<std::string>{}(key.first);
    }
};

} // namespace sessionq::detail::processor
