// SPDX-License-Identifier: MIT
#include "processor/session/session_registry.hpp"

#include <doctest/doctest.h>

#include "support/manual_loop.hpp"

using namespace sessionq;
using detail::processor::SessionRegistry;

namespace {

const SessionRegistry::Key key{"orders", "a"};
const int first{};
const int second{};
const int third{};

} // namespace

TEST_CASE("held sessions: sessions apart are each its holder's alone") {
    test::ManualLoop loop;
    SessionRegistry held;
    CHECK(held.hold(key, &first, loop, [] {}));
    CHECK(held.hold({"orders", "b"}, &second, loop, [] {}));
    CHECK(held.hold({"invoices", "a"}, &third, loop, [] {}));
}

TEST_CASE(
    "held sessions: a session given anew waits until the earlier holder has ended, each in turn") {
    test::ManualLoop loop;
    SessionRegistry held;
    std::string begun;
    CHECK(held.hold(key, &first, loop, [] {}));
    CHECK_FALSE(held.hold(key, &second, loop, [&] { begun += '2'; }));
    CHECK_FALSE(held.hold(key, &third, loop, [&] { begun += '3'; }));
    held.ended(key, &first);
    CHECK(begun.empty()); // posted, not run here
    loop.run_until_idle();
    CHECK(begun == "2");
    held.ended(key, &second);
    loop.run_until_idle();
    CHECK(begun == "23");
    held.ended(key, &third);
    CHECK(held.hold(key, &first, loop, [] {}));
}

TEST_CASE("held sessions: one that ends while it waits is passed over") {
    test::ManualLoop loop;
    SessionRegistry held;
    std::string begun;
    CHECK(held.hold(key, &first, loop, [] {}));
    CHECK_FALSE(held.hold(key, &second, loop, [&] { begun += '2'; }));
    CHECK_FALSE(held.hold(key, &third, loop, [&] { begun += '3'; }));
    held.ended(key, &second);
    loop.run_until_idle();
    CHECK(begun.empty());
    held.ended(key, &first);
    loop.run_until_idle();
    CHECK(begun == "3");
}

TEST_CASE("held sessions: each waits on its own loop") {
    test::ManualLoop here;
    test::ManualLoop there;
    SessionRegistry held;
    bool begun = false;
    CHECK(held.hold(key, &first, here, [] {}));
    CHECK_FALSE(held.hold(key, &second, there, [&] { begun = true; }));
    held.ended(key, &first);
    here.run_until_idle();
    CHECK_FALSE(begun);
    there.run_until_idle();
    CHECK(begun);
}

TEST_CASE("held sessions: an end that nobody held is no harm") {
    test::ManualLoop loop;
    SessionRegistry held;
    held.ended(key, &first);
    CHECK(held.hold(key, &first, loop, [] {}));
    held.ended(key, &second);
    CHECK_FALSE(held.hold(key, &third, loop, [] {}));
}
