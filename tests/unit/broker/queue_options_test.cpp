// SPDX-License-Identifier: MIT
#include "broker/queue_options.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("queue options: the defaults and the ends of each range are accepted") {
    CHECK_FALSE(broker::find_fault({}));
    CHECK_FALSE(broker::find_fault({.lock_duration = 5min,
                                    .max_delivery_count = 1,
                                    .default_time_to_live = 1ms,
                                    .max_message_bytes = 1}));
    CHECK_FALSE(broker::find_fault({.order = MessageOrder::priority}));
    CHECK_FALSE(broker::find_fault({.order = MessageOrder::property, .order_property = "due"}));
    CHECK_FALSE(broker::find_fault({.lock_duration = 1ms, .duplicate_detection_window = 168h}));
}

TEST_CASE("queue options: a bad value is rejected by name") {
    struct Bad {
        const char* member;
        broker::QueueOptions options;
    };
    const std::vector<Bad> table{
        {"lock_duration", {.lock_duration = 0s}},
        {"lock_duration", {.lock_duration = 5min + 1ns}},
        {"max_delivery_count", {.max_delivery_count = 0}},
        {"default_time_to_live", {.default_time_to_live = 0ms}},
        {"max_message_bytes", {.max_message_bytes = 0}},
        {"duplicate_detection_window", {.duplicate_detection_window = 0s}},
        {"duplicate_detection_window", {.duplicate_detection_window = 168h + 1ns}},
        {"order", {.requires_session = true, .order = MessageOrder::priority}},
        {"order",
         {.requires_session = true, .order = MessageOrder::property, .order_property = "due"}},
        {"order_property", {.order = MessageOrder::property}},
        {"order_property", {.order = MessageOrder::property, .order_property = "a\nb"}},
        {"order_property", {.order = MessageOrder::priority, .order_property = "due"}},
        {"order_property", {.order_property = "due"}},
    };
    for (const auto& [member, options] : table) {
        CAPTURE(member);
        const auto fault = broker::find_fault(options);
        REQUIRE(fault);
        CHECK(fault->code == Errc::invalid_option);
        CHECK(fault->detail.starts_with(member));
    }
}

TEST_CASE("queue options: a queue to forward to has a name without control characters") {
    for (const char* name : {"a b", "~", "Stra\u00dfe"}) {
        CAPTURE(name);
        CHECK_FALSE(broker::find_fault({.forward_to = name}));
        CHECK_FALSE(broker::find_fault({.forward_dead_letters_to = name}));
    }
    for (const char* name : {"a\tb", "\x1f", "\x7f"}) {
        CAPTURE(name);
        const auto fault = broker::find_fault({.forward_to = name});
        REQUIRE(fault);
        CHECK(fault->detail.starts_with("forward_to"));
    }
}
