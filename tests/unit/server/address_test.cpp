// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "server/address.hpp"

using namespace sessionq::server;

TEST_CASE("NodeAddress: accepts every form in which clients write an address") {
    for (const char* form : {"orders", "/orders", "orders/", "amqps://localhost/orders",
                             "amqps://localhost:5671/orders", "sb://host/orders/"}) {
        CAPTURE(form);
        CHECK(parse_address(form) == NodeAddress{.entity = "orders"});
    }
    CHECK(parse_address("site1/orders") == NodeAddress{.entity = "site1/orders"});
}

TEST_CASE("NodeAddress: well-known segments match in any case, names keep theirs") {
    CHECK(parse_address("Orders/$deadletterqueue") ==
          NodeAddress{.entity = "Orders/$DeadLetterQueue"});
    CHECK(parse_address("orders/$transfer/$DEADLETTERQUEUE") ==
          NodeAddress{.entity = "orders/$Transfer/$DeadLetterQueue"});
    CHECK(parse_address("news/subscriptions/All") ==
          NodeAddress{.entity = "news/Subscriptions/All"});
    CHECK(parse_address("/news/SUBSCRIPTIONS/all/$DeadLetterQueue") ==
          NodeAddress{.entity = "news/Subscriptions/all/$DeadLetterQueue"});
    CHECK(parse_address("subscriptions") == NodeAddress{.entity = "subscriptions"});
}

TEST_CASE("NodeAddress: recognises management and claims nodes") {
    CHECK(parse_address("orders/$management") ==
          NodeAddress{.kind = NodeAddress::Kind::management, .entity = "orders"});
    CHECK(parse_address("news/subscriptions/all/$Management") ==
          NodeAddress{.kind = NodeAddress::Kind::management, .entity = "news/Subscriptions/all"});
    CHECK(parse_address("$cbs") == NodeAddress{.kind = NodeAddress::Kind::claims});
    CHECK(parse_address("amqps://host/$CBS") == NodeAddress{.kind = NodeAddress::Kind::claims});
}

TEST_CASE("NodeAddress: rejects addresses without an entity") {
    for (const char* form : {"", "/", "amqps://host", "amqps://host/", "$management"}) {
        CAPTURE(form);
        CHECK_FALSE(parse_address(form));
    }
}
