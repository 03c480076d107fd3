// SPDX-License-Identifier: MIT
#include "groups/dialect.hpp"

#include <doctest/doctest.h>

#include <sessionq/error.hpp>

using namespace sessionq;
using namespace sessionq::groups;
using ports::Capability;

TEST_CASE("dialect: it is found by its name, or by the product of the broker") {
    REQUIRE(dialect_by_name("artemis") != nullptr);
    REQUIRE(dialect_by_name("broker-j") != nullptr);
    CHECK(dialect_by_name("rabbit") == nullptr);
    CHECK(dialect_by_product("apache-activemq-artemis") == dialect_by_name("artemis"));
    CHECK(dialect_by_product("Apache Qpid Broker-J Core") == dialect_by_name("broker-j"));
    CHECK(dialect_by_product("something else") == nullptr);
    CHECK(dialect_by_product("") == nullptr);
}

TEST_CASE("dialect: a capability that no broker of groups has is refused by name") {
    for (const char* name : {"artemis", "broker-j"}) {
        CAPTURE(name);
        const ports::Capabilities& capabilities = dialect_by_name(name)->capabilities;
        for (const auto capability :
             {Capability::lock_renewal, Capability::session_state, Capability::list_sessions,
              Capability::defer, Capability::dead_letter_reason, Capability::cancel_scheduled,
              Capability::batch_delete, Capability::session_ids_without_case}) {
            CHECK_FALSE(capabilities.has(capability));
        }
        CHECK(capabilities.has(Capability::accept_next));
    }
    CHECK_THROWS_WITH_AS(
        dialect_by_name("broker-j")->capabilities.require(Capability::session_state),
        doctest::Contains("Apache Qpid Broker-J does not have: session state"), Error);
}

TEST_CASE("dialect: a dialect that accepts by id has a selector for it") {
    for (const char* name : {"artemis", "broker-j"}) {
        CAPTURE(name);
        const Dialect& dialect = *dialect_by_name(name);
        CHECK(dialect.capabilities.has(Capability::accept_named) ==
              !dialect.group_selector.empty());
    }
    CHECK(selector_for(*dialect_by_name("artemis"), "o'neill's") == "JMSXGroupID = 'o''neill''s'");
}

TEST_CASE("dialect: a dialect that schedules has an annotation for it") {
    for (const char* name : {"artemis", "broker-j"}) {
        CAPTURE(name);
        const Dialect& dialect = *dialect_by_name(name);
        CHECK(dialect.capabilities.has(Capability::schedule) == !dialect.delivery_time.empty());
    }
}

TEST_CASE("dialect: before the dialect is known only common capabilities are promised") {
    for (int i = 0; i <= static_cast<int>(ports::last_capability); ++i) {
        const auto capability = static_cast<Capability>(i);
        CAPTURE(to_string(capability));
        if (common_capabilities().has(capability)) {
            CHECK(dialect_by_name("artemis")->capabilities.has(capability));
            CHECK(dialect_by_name("broker-j")->capabilities.has(capability));
        }
    }
}
