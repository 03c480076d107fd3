// SPDX-License-Identifier: MIT
#include "core/access.hpp"

#include <sessionq/error.hpp>

namespace sessionq::client {

void refuse_moved_from() { throw Error{Errc::invalid_state, "the object was moved from"}; }

} // namespace sessionq::client
