// SPDX-License-Identifier: MIT
#include <sessionq/lock_token.hpp>

#include "core/uuid.hpp"

namespace sessionq {

std::string LockToken::to_string() const { return core::Uuid{bytes}.to_string(); }

} // namespace sessionq
