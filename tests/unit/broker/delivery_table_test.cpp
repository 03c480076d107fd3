// SPDX-License-Identifier: MIT
#include "broker/delivery_table.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "broker/stored_message.hpp"

using sessionq::broker::DeliveryTable;
using sessionq::broker::StoredMessage;

TEST_CASE("delivery table: a token names its message until it is settled, and nothing after that") {
    StoredMessage a;
    StoredMessage b;
    DeliveryTable table;
    const auto first = table.add(a);
    const auto second = table.add(b);
    CHECK(table.find(first) == &a);
    CHECK(table.find(second) == &b);
    table.remove(first);
    CHECK(table.find(first) == nullptr);
    CHECK(table.size() == 1);
    const auto third = table.add(a); // reuses the freed row
    CHECK(third != first);
    CHECK(table.find(first) == nullptr);
    CHECK(table.find(third) == &a);
}

TEST_CASE("delivery table: an unknown token finds nothing") {
    const DeliveryTable table;
    CHECK(table.find(0) == nullptr);
    CHECK(table.find(~DeliveryTable::Token{0}) == nullptr);
}

TEST_CASE("delivery table: rows are reused") {
    StoredMessage message;
    DeliveryTable table;
    for (int i = 0; i < 1000; ++i) {
        table.remove(table.add(message));
    }
    CHECK((table.add(message) & 0xffffffffU) == 0);
    CHECK(table.messages() == std::vector<StoredMessage*>{&message});
}
