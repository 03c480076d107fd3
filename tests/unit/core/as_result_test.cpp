// SPDX-License-Identifier: MIT
#include "core/as_result.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

using namespace sessionq;
using core::as_result;

namespace {

template <typename E>
[[noreturn]] void fail_with(E error) {
    throw error;
}

Failure odd_number(int number) {
    return {.code = Errc::invalid_argument, .detail = std::to_string(number) + " is odd"};
}

sessionq::Result<int> half_of(int number) {
    if (number % 2 != 0) {
        return odd_number(number);
    }
    return number / 2;
}

} // namespace

TEST_CASE("as_result: the value, or the failure that was thrown") {
    CHECK(as_result([] { return 7; }).value() == 7);
    CHECK(as_result([] {}).has_value());
    const auto lost = as_result([]() -> int {
        fail_with(Error{{.code = Errc::connection_lost,
                         .detail = "link 'orders'",
                         .peer_condition = "amqp:link:detach-forced",
                         .outcome_unknown = true}});
    });
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code == Errc::connection_lost);
    CHECK(lost.error().detail == "link 'orders'");
    CHECK(lost.error().peer_condition == "amqp:link:detach-forced");
    CHECK(lost.error().outcome_unknown);
}

TEST_CASE("as_result: exceptions that are not sessionq's have a cause, too") {
    const auto memory = as_result([] { fail_with(std::bad_alloc{}); });
    CHECK(memory.error().code == Errc::resource_exhausted);
    CHECK(memory.error().detail == "out of memory");
    const auto foreign = as_result([] { fail_with(std::runtime_error{"the tracer is closed"}); });
    CHECK(foreign.error().code == Errc::internal_error);
    CHECK(foreign.error().detail == "the tracer is closed");
    const auto callback =
        as_result([] { fail_with(std::runtime_error{"scripted"}); }, Errc::handler_failed);
    CHECK(callback.error().code == Errc::handler_failed);
    CHECK(as_result([] { fail_with(7); }).error().detail ==
          "an exception not derived from std::exception");
}

TEST_CASE("public result: a value, a failure, or what a function made of them") {
    CHECK(half_of(8).value() == 4);
    CHECK(*half_of(8) == 4);
    CHECK_FALSE(half_of(7));
    CHECK(half_of(7).error().detail == "7 is odd");
    CHECK(half_of(7).value_or(-1) == -1);
    CHECK(half_of(8).value_or(-1) == 4);

    CHECK(half_of(8).and_then(half_of).and_then(half_of).value() == 1);
    CHECK(half_of(6).and_then(half_of).and_then(half_of).error().detail == "3 is odd");
    const sessionq::Result<int> two = half_of(4);
    CHECK(two.transform([](int number) { return std::to_string(number); }).value() == "2");
    CHECK(two.and_then(half_of).value() == 1);
    CHECK(half_of(5).transform([](int) { FAIL("it has no value"); }).error().detail == "5 is odd");
    int seen = 0;
    CHECK(half_of(8).transform([&](int number) { seen = number; }).has_value());
    CHECK(seen == 4);

    CHECK(half_of(7).or_else([](const Failure&) { return half_of(2); }).value() == 1);
    CHECK(two.or_else([](const Failure& why) -> sessionq::Result<int> { return why; }).value() ==
          2);
    CHECK(half_of(7)
              .or_else([](const Failure& why) -> sessionq::Result<int> {
                  return Unexpected{Errc::internal_error, "because " + why.detail};
              })
              .error()
              .detail == "because 7 is odd");
}

TEST_CASE("public result: its value may be changed, moved out, and need not be copyable") {
    sessionq::Result<std::vector<int>> numbers = std::vector{1, 2};
    numbers->push_back(3);
    (*numbers).push_back(4);
    CHECK(numbers.value().size() == 4);
    int sum = 0;
    for (const int number : sessionq::Result<std::vector<int>>{std::vector{1, 2}}.value()) {
        sum += number;
    }
    CHECK(sum == 3);

    sessionq::Result<std::unique_ptr<int>> owner = std::make_unique<int>(5);
    CHECK(owner.transform([](const std::unique_ptr<int>& held) { return *held; }).value() == 5);
    const auto next = std::move(owner).transform([](std::unique_ptr<int> held) {
        *held += 1;
        return held;
    });
    CHECK(*next.value() == 6);

    sessionq::Result<std::string> text = "converted";
    text.value() += '!';
    CHECK(*text == "converted!");
    CHECK(sessionq::Result<std::string>{}.value().empty());
}

TEST_CASE("public result: without a value it is success or a failure") {
    const sessionq::Result<void> good;
    CHECK(good.has_value());
    CHECK_NOTHROW(good.value());
    CHECK(good.and_then([] { return half_of(2); }).value() == 1);
    CHECK(good.transform([] { return 3; }).value() == 3);
    CHECK(
        good.or_else([](const Failure& why) -> sessionq::Result<void> { return why; }).has_value());

    const sessionq::Result<void> bad = Unexpected{odd_number(3)};
    CHECK_FALSE(bad);
    CHECK(bad.error().detail == "3 is odd");
    CHECK(bad.and_then([] { return half_of(2); }).error().detail == "3 is odd");
    CHECK(bad.transform([] { FAIL("it failed"); }).error().detail == "3 is odd");
    CHECK(bad.or_else([](const Failure&) { return sessionq::Result<void>{}; }).has_value());
}

TEST_CASE("public result: value throws the failure as an Error") {
    try {
        static_cast<void>(half_of(9).value());
        FAIL("it did not throw");
    } catch (const Error& error) {
        CHECK(error.code() == Errc::invalid_argument);
        CHECK(error.failure().detail == "9 is odd");
    }
    const sessionq::Result<void> bad = odd_number(1);
    CHECK_THROWS_AS(bad.value(), Error);
}
