// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>

#include "broker/store/row_checksum.hpp"

using namespace sessionq::broker;

TEST_CASE("checksum_of: every column changes it, also an empty text against none, and values that "
          "move to the next column") {
    const MessageRow row{.entity = 1,
                         .sequence = 2,
                         .place = 0,
                         .delivery_count = 3,
                         .enqueued = 4,
                         .content = {"content"},
                         .passed_to = "5 "};
    std::set<std::uint64_t> seen{checksum_of(row)};
    CHECK(seen.contains(checksum_of(MessageRow{row})));
    const auto is_new = [&](auto change) {
        MessageRow changed = row;
        change(changed);
        return seen.insert(checksum_of(changed)).second;
    };
    CHECK(is_new([](MessageRow& m) { m.entity = 2; }));
    CHECK(is_new([](MessageRow& m) { m.sequence = 3; }));
    CHECK(is_new([](MessageRow& m) { std::swap(m.entity, m.sequence); }));
    CHECK(is_new([](MessageRow& m) { m.place = 1; }));
    CHECK(is_new([](MessageRow& m) { m.delivery_count = 4; }));
    CHECK(is_new([](MessageRow& m) { m.enqueued = 5; }));
    CHECK(is_new([](MessageRow& m) { m.time_to_live = 0; }));
    CHECK(is_new([](MessageRow& m) { m.time_to_live = 1; }));
    CHECK(is_new([](MessageRow& m) { m.reason = ""; }));
    CHECK(is_new([](MessageRow& m) { m.description = ""; }));
    CHECK(is_new([](MessageRow& m) { m.reason = "content"; }));
    CHECK(is_new([](MessageRow& m) { m.content = {"Content"}; }));
    CHECK(is_new([](MessageRow& m) { m.content = {"content5 "}; }));
    CHECK(is_new([](MessageRow& m) { m.passed_to = ""; }));
}

TEST_CASE("checksum_of: the same columns in another table give another checksum") {
    CHECK(checksum_of(SessionStateRow{.entity = 1, .session_id = "a", .state = {"b"}}) !=
          checksum_of(TakenIdRow{.entity = 1, .message_id = "a"}));
    RowHash one{"one"};
    RowHash other{"other"};
    CHECK(one.value() != other.value());
}

TEST_CASE("checksum_of: stays as it is in stores that exist") {
    CHECK(checksum_of(EntityRow{.id = 1, .last_sequence = 2}) == 16308903695685925309U);
    CHECK(checksum_of(SessionStateRow{.entity = 1, .session_id = "a", .state = {"b"}}) ==
          4200193170636001279U);
}
