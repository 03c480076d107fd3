// SPDX-License-Identifier: MIT
#include "processor/slots/target_book.hpp"

namespace sessionq::detail::processor {

TargetBook::TargetBook(const std::vector<std::string>& entities,
                       const std::vector<std::string>& session_ids, TargetClaims* claims)
    : claims_{claims} {
    for (const std::string& entity : entities) {
        if (!named()) {
            targets_.push_back({.entity = entity});
        }
        for (const std::string& id : session_ids) {
            targets_.push_back({.entity = entity, .session_id = id});
        }
    }
}

} // namespace sessionq::detail::processor
