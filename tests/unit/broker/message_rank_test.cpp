// SPDX-License-Identifier: MIT
#include "broker/message_rank.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace sessionq;
using broker::MessageRank;

namespace {

const broker::QueueOptions ranked_by_priority{.order = MessageOrder::priority};
const broker::QueueOptions ranked_by_due{.order = MessageOrder::property, .order_property = "due"};

MessageRank rank_of(PropertyValue value) {
    return MessageRank::of(DecodedContent{Message{.properties = {{"due", std::move(value)}}}},
                           ranked_by_due);
}
MessageRank rank_of(std::uint8_t priority) {
    return MessageRank::of(DecodedContent{Message{.priority = priority}}, ranked_by_priority);
}

} // namespace

TEST_CASE("message rank: the highest priority comes first") {
    CHECK(rank_of(std::uint8_t{255}) < rank_of(std::uint8_t{5}));
    CHECK(rank_of(std::uint8_t{5}) < rank_of(Message{}.priority));
    CHECK(rank_of(Message{}.priority) < rank_of(std::uint8_t{0}));
    CHECK_FALSE(rank_of(std::uint8_t{5}) < rank_of(std::uint8_t{5}));
}

TEST_CASE("message rank: values come in the documented order, and equals have one rank") {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const WallTime some{std::chrono::hours{1}};
    const std::vector<std::vector<PropertyValue>> ascending{
        {-std::numeric_limits<double>::infinity()},
        {std::numeric_limits<std::int64_t>::min()},
        {-1.5},
        {std::int64_t{-1}},
        {std::int64_t{0}, std::uint64_t{0}, 0.0, -0.0},
        {std::uint64_t{9}},
        {std::int64_t{10}, 10.0},
        {std::int64_t{(1LL << 53) - 1}},
        {std::int64_t{1LL << 53}, 9007199254740992.0},
        {std::int64_t{(1LL << 53) + 1}}, // no double
        {std::uint64_t{most - 1}},
        {std::uint64_t{most}},
        {1e300},
        {std::string{}},
        {std::string{"10"}},
        {std::string{"9"}},
        {std::string{"a"}},
        {std::string{"\xc3\xa4"}},
        {WallTime{}},
        {some},
        {std::monostate{}, true, std::vector<std::byte>{std::byte{1}},
         std::numeric_limits<double>::quiet_NaN()},
    };
    for (std::size_t a = 0; a < ascending.size(); ++a) {
        for (std::size_t b = 0; b < ascending.size(); ++b) {
            CAPTURE(a);
            CAPTURE(b);
            for (const auto& left : ascending[a]) {
                for (const auto& right : ascending[b]) {
                    CHECK((rank_of(left) < rank_of(right)) == (a < b));
                }
            }
        }
    }
}

TEST_CASE("message rank: a message without the property is last") {
    const auto none = MessageRank::of(DecodedContent{Message{.priority = 9}}, ranked_by_due);
    CHECK(rank_of(PropertyValue{WallTime::max()}) < none);
    CHECK_FALSE(none < rank_of(PropertyValue{std::monostate{}}));
    CHECK_FALSE(rank_of(PropertyValue{std::monostate{}}) < none);
}
