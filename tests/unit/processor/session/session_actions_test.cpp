// SPDX-License-Identifier: MIT
#include "processor/session/session_actions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace sessionq;

TEST_CASE("session actions: those added while they are performed come after, by the same run") {
    namespace action = detail::processor::action;
    detail::processor::SessionActions::Spare spare;
    detail::processor::SessionActions actions{spare};
    actions.add(action::Drain{});
    actions.add(action::AddCredit{1});
    std::vector<std::string> performed;
    const auto perform = [&]<typename Step>(const Step&) {
        if constexpr (std::is_same_v<Step, action::Drain>) {
            performed.emplace_back("drain");
            actions.add(action::Finish{});
            CHECK_FALSE(actions.run([](const auto&) { FAIL("entered again"); }));
        } else {
            performed.emplace_back(std::is_same_v<Step, action::Finish> ? "finish" : "credit");
        }
    };
    CHECK(actions.run(perform));
    CHECK(performed == std::vector<std::string>{"drain", "credit", "finish"});
    CHECK(actions.run(perform)); // none is left
    CHECK(performed.size() == 3);
}

TEST_CASE("session actions: a list that rests lends its memory to the next one") {
    namespace action = detail::processor::action;
    using detail::processor::SessionActions;
    SessionActions::Spare spare;
    SessionActions first{spare};
    first.rest(); // it has none
    CHECK(spare.empty());
    first.add(action::Drain{});
    first.rest(); // a step is left
    CHECK(spare.empty());
    CHECK(first.run([](const auto&) {}));
    first.rest();
    REQUIRE(spare.size() == 1);
    CHECK(spare.front().capacity() != 0);
    SessionActions second{spare};
    second.add(action::Drain{});
    CHECK(spare.empty());
    int performed = 0;
    CHECK(second.run([&](const auto&) { ++performed; }));
    CHECK(performed == 1);
}
