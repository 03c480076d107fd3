// SPDX-License-Identifier: MIT
#include "core/access.hpp"

#include <sessionq/error.hpp>

namespace sessionq::detail::client {

void refuse_moved_from() {
    throw Error{Errc::invalid_state, "the object was moved from; use the one that it was moved to"};
}

} // namespace sessionq::detail::client
