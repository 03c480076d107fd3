// SPDX-License-Identifier: MIT
#include "processor/session/settle_wait.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::SettleWait;

namespace {

constexpr TimePoint settled_at{1h};

} // namespace

TEST_CASE("settle wait: R15: settlements none of which is answered are overdue after the timeout") {
    SettleWait wait{30s};
    wait.begin(settled_at);
    CHECK(wait.look_at() == settled_at + 30s);
    CHECK_FALSE(wait.is_overdue(settled_at + 30s - 1ns));
    CHECK(wait.is_overdue(settled_at + 30s));
    CHECK(wait.since() == settled_at);
}

TEST_CASE("settle wait: R15: an answer gives the others their time again, and moves no timer") {
    SettleWait wait{30s};
    wait.begin(settled_at);
    wait.answered(settled_at + 10s);
    wait.answered(settled_at + 20s);
    CHECK(wait.look_at() == settled_at + 30s);
    CHECK(wait.since() == settled_at + 20s);
    CHECK_FALSE(wait.is_overdue(settled_at + 30s));
    CHECK(wait.look_at() == settled_at + 50s);
    CHECK_FALSE(wait.is_overdue(settled_at + 50s - 1ns));
    CHECK(wait.is_overdue(settled_at + 50s));
    CHECK(wait.since() == settled_at + 20s);
}

TEST_CASE("settle wait: asked for another reason, it keeps its instant") {
    SettleWait wait{30s};
    wait.begin(settled_at);
    wait.answered(settled_at + 20s);
    CHECK_FALSE(wait.is_overdue(settled_at + 25s));
    CHECK(wait.look_at() == settled_at + 30s);
}

TEST_CASE("settle wait: R15: a settlement that follows when all were answered has its full time") {
    SettleWait wait{30s};
    wait.begin(settled_at);
    wait.answered(settled_at + 1s);
    wait.begin(settled_at + 1h);
    CHECK(wait.look_at() == settled_at + 1h + 30s);
    CHECK(wait.since() == settled_at + 1h);
    CHECK_FALSE(wait.is_overdue(settled_at + 1h + 29s));
    CHECK(wait.is_overdue(settled_at + 1h + 30s));
}
