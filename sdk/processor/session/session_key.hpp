// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace sessionq::detail::processor {

using SessionKey = std::pair<std::string, std::string>; ///< the entity and the session id

/// Of the session id alone. Few entities have sessions of the same id.
struct SessionKeyHash {
    std::size_t operator()(const SessionKey& key) const noexcept {
        return std::hash<std::string>{}(key.second);
    }
};

} // namespace sessionq::detail::processor
