// SPDX-License-Identifier: MIT
// R26: what an entity stores is accounted and bounded.
#include "broker/stored_bytes.hpp"

#include <doctest/doctest.h>

using namespace sessionq::broker;
using Part = StoredBytes::Part;
using For = StoredBytes::For;

TEST_CASE("StoredBytes: all parts together meet the bound, and the greatest is named") {
    StoredBytes stored{nullptr};
    stored.change(Part::messages, 0, 300);
    stored.change(Part::session_states, 0, 600);
    stored.set(Part::message_ids, 50);
    CHECK_FALSE(stored.find_fault(50, 1000, For::new_data));
    CHECK(stored.find_fault(51, 1000, For::new_data) ==
          "max_size_bytes is 1000, and most of it are states of sessions");
    CHECK_FALSE(stored.find_fault(1'000'000, 0, For::new_data)); // no bound
    stored.change(Part::session_states, 600, 100);
    CHECK_FALSE(stored.find_fault(550, 1000, For::new_data));
    CHECK(stored.of(Part::session_states) == 100);
}

TEST_CASE(
    "StoredBytes: settlements may exceed the bound by a sixteenth; no growth is never refused") {
    StoredBytes stored{nullptr};
    stored.change(Part::messages, 0, 1600);
    CHECK(stored.find_fault(1, 1600, For::new_data));
    CHECK_FALSE(stored.find_fault(100, 1600, For::settlement));
    CHECK(stored.find_fault(101, 1600, For::settlement));
    stored.change(Part::dead_letters, 0, 1000);
    CHECK_FALSE(stored.find_fault(0, 1600, For::new_data));
}

TEST_CASE("StoredBytes: a topic and its subscriptions share an account; one that is deleted gives "
          "its bytes back") {
    SizeAccount all{1000};
    StoredBytes topic{&all};
    topic.change(Part::messages, 0, 100);
    {
        StoredBytes subscription{&all};
        subscription.change(Part::dead_letters, 0, 800);
        CHECK(all.bytes() == 900);
        CHECK(topic.find_fault(101, 1000, For::new_data) ==
              "max_size_bytes is 1000, and most of it are messages of its subscriptions");
    }
    CHECK(all.bytes() == 100);
    CHECK_FALSE(topic.find_fault(900, 0, For::new_data)); // the bound of the account
    CHECK(topic.find_fault(901, 0, For::new_data));
}
