// SPDX-License-Identifier: MIT
#include "ports/wrong_scope.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using ports::explain_scope;
using ports::Scope;

TEST_CASE("wrong scope: the failure names the class to use instead") {
    const Failure why{.code = Errc::session_required, .detail = "the broker's words"};
    CHECK(explain_scope(why, "orders", Scope::entity).detail ==
          "'orders' requires sessions; use a SessionReceiver");
    CHECK(explain_scope(why, "plain", Scope::session).detail ==
          "'plain' has no sessions; use a Receiver");
}

TEST_CASE("wrong scope: other failures stay as they are") {
    const Failure why{.code = Errc::entity_not_found, .detail = "none"};
    CHECK(explain_scope(why, "orders", Scope::entity).detail == "none");
}
