// SPDX-License-Identifier: MIT
#include "core/access.hpp"

#include <sessionq/error.hpp>

namespace sessionq::detail::client {

void refuse_moved_from() { throw Error{Errc::invalid_state, "the object was moved from"}; }

} // namespace sessionq::detail::client
