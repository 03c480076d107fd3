// SPDX-License-Identifier: MIT
#include <sessionq/lock_token.hpp>
#include <sessionq/uuid.hpp>

#include "core/uuid.hpp"

namespace sessionq::inline v1 {

std::string LockToken::to_string() const { return core::Uuid{bytes}.to_string(); }

} // namespace sessionq::inline v1

std::size_t std::hash<sessionq::LockToken>::operator()(
    const sessionq::LockToken& token) const noexcept {
    return std::hash<sessionq::Uuid>{}(sessionq::Uuid{token.bytes});
}
