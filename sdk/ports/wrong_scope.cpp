// SPDX-License-Identifier: MIT
#include "ports/wrong_scope.hpp"

namespace sessionq::ports {

Failure explain_scope(Failure why, const std::string& entity, Scope asked) {
    if (why.code == Errc::session_required) {
        why.detail = "'" + entity + "' " +
                     (asked == Scope::session ? "has no sessions; use a Receiver"
                                              : "requires sessions; use a SessionReceiver");
    }
    return why;
}

} // namespace sessionq::ports
