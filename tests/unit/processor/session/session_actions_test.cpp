// SPDX-License-Identifier: MIT
#include "processor/session/session_actions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace sessionq;

TEST_CASE("session actions: those added while they are performed come after, by the same run") {
    namespace action = detail::processor::action;
    detail::processor::SessionActions actions;
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
