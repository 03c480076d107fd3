// SPDX-License-Identifier: MIT
#include "in_process/ask_order.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace sessionq;
using in_process::AskOrder;
using Positions = std::vector<std::size_t>;

TEST_CASE("ask order: entities that have not served come first, in the order of the request") {
    AskOrder order;
    const std::vector<std::string> entities{"a", "b", "c"};
    CHECK(order.order(entities) == Positions{0, 1, 2});
    order.served("a");
    CHECK(order.order(entities) == Positions{1, 2, 0});
    order.served("c");
    CHECK(order.order(entities) == Positions{1, 0, 2});
}

TEST_CASE("ask order: entities that always have sessions take turns, also between other asks") {
    AskOrder order;
    const std::vector<std::string> entities{"a", "b", "c"};
    std::string served;
    for (int i = 0; i < 6; ++i) {
        const std::string& first = entities[order.order(entities).front()];
        served += first;
        order.served(first);
        order.served("x"); // of an ask for other entities
    }
    CHECK(served == "abcabc");
}
