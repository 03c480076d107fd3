// SPDX-License-Identifier: MIT
#include <sessionq/wait_for_signal.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>

using namespace sessionq;

namespace {

std::atomic<int> seen_before{0};

/// What the program did with the signal before, restored at the end.
struct Earlier {
    Earlier() {
        seen_before = 0;
        struct sigaction action {};
        action.sa_handler = [](int number) { seen_before = number; };
        sigemptyset(&action.sa_mask);
        ::sigaction(SIGTERM, &action, &before);
    }
    ~Earlier() { ::sigaction(SIGTERM, &before, nullptr); }
    struct sigaction before {};
};

} // namespace

TEST_CASE(
    "SignalWatch: a signal that comes before the wait ends it, and the next goes its old way") {
    const Earlier earlier;
    SignalWatch watch;
    ::raise(SIGTERM);
    CHECK(seen_before == 0);
    CHECK(watch.wait() == SIGTERM);
    CHECK_THROWS_WITH(watch.wait(),
                      "not possible in this state: this SignalWatch has ended; make another one");
    ::raise(SIGTERM);
    CHECK(seen_before == SIGTERM);
}

TEST_CASE("SignalWatch: one signal ends the waits of all, and one that ends unused ends no other") {
    const Earlier earlier;
    SignalWatch first;
    SignalWatch second;
    { const SignalWatch unused; }
    ::raise(SIGTERM);
    CHECK(first.wait() == SIGTERM);
    ::raise(SIGTERM);
    CHECK(seen_before == 0); // the second one still watches
    CHECK(second.wait() == SIGTERM);
    ::raise(SIGTERM);
    CHECK(seen_before == SIGTERM);
}

TEST_CASE("SignalWatch: what ended an earlier watch does not end a later one") {
    const Earlier earlier;
    {
        SignalWatch watch;
        ::raise(SIGTERM);
        CHECK(watch.wait() == SIGTERM);
    }
    SignalWatch watch;
    ::raise(SIGINT);
    CHECK(watch.wait() == SIGINT);
}
