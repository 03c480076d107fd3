// SPDX-License-Identifier: MIT
#include "core/result.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace sessionq;

TEST_CASE("result: holds a value or a failure") {
    core::Result<int> good{3};
    CHECK(good.ok());
    CHECK(static_cast<bool>(good));
    CHECK(good.value() == 3);
    const core::Result<int> bad{Failure{.code = Errc::timeout}};
    CHECK_FALSE(bad.ok());
    CHECK(bad.failure().code == Errc::timeout);
}

TEST_CASE("result: take_or_throw returns the value or throws the failure") {
    CHECK(*core::Result<std::unique_ptr<int>>{std::make_unique<int>(4)}.take_or_throw() == 4);
    core::Result<int> bad{Failure{.code = Errc::lock_lost, .detail = "session 'a'"}};
    try {
        static_cast<void>(std::move(bad).take_or_throw());
        FAIL("it did not throw");
    } catch (const Error& error) {
        CHECK(error.failure().code == Errc::lock_lost);
        CHECK(error.failure().detail == "session 'a'");
    }
}
