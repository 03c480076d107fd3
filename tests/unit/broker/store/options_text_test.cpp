// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/store/options_text.hpp"

using namespace sessionq;
using namespace sessionq::broker;

TEST_CASE("options text: every option and no option survive writing and reading") {
    const QueueOptions plain;
    CHECK(read_options(to_text(plain)).value() == plain);
    const QueueOptions full{.requires_session = true,
                            .lock_duration = std::chrono::milliseconds{1500},
                            .max_delivery_count = 4'000'000'000U,
                            .default_time_to_live = std::chrono::milliseconds{1},
                            .dead_letter_on_expiration = true,
                            .max_size_bytes = 1ULL << 63U,
                            .max_message_bytes = 77,
                            .duplicate_detection_window = std::chrono::hours{24 * 7},
                            .forward_to = "a = b",
                            .forward_dead_letters_to = "c/Subscriptions/d",
                            .order = MessageOrder::property,
                            .order_property = "due = when"};
    CHECK(read_options(to_text(full)).value() == full);
    const QueueOptions by_priority{.order = MessageOrder::priority};
    CHECK(read_options(to_text(by_priority)).value() == by_priority);
}

TEST_CASE("options text: an unknown line is an error that names it") {
    for (const char* line :
         {"colour=blue", "lock_duration", "lock_duration=", "max_delivery_count=-1",
          "max_delivery_count=5x", "requires_session=1", "order=size"}) {
        CAPTURE(line);
        const auto read = read_options("max_message_bytes=5\n" + std::string{line} + "\n");
        REQUIRE_FALSE(read.ok());
        CHECK(read.failure().detail.find(line) != std::string::npos);
    }
}
