// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/value.hpp"
#include "codec/samples.hpp"

using namespace sessionq::amqp;

TEST_CASE("Value: find accepts string and symbol keys") {
    const Value map = Value::map({{Value::symbol("a"), std::int32_t{1}}, {"b", std::uint64_t{2}}});
    CHECK(map.find("a")->integer() == 1);
    CHECK(map.find("b")->integer() == 2);
    CHECK(map.find("c") == nullptr);
    CHECK(Value{"text"}.find("a") == nullptr);
    CHECK_FALSE(Value{std::numeric_limits<std::uint64_t>::max()}.integer());
}
TEST_CASE("Value: values are equal if type and content are equal") {
    CHECK(some_of_everything() == some_of_everything());
    CHECK_FALSE(Value{std::int32_t{1}} == Value{std::int64_t{1}});
    CHECK_FALSE(Value{"a"} == Value::symbol("a"));
    CHECK_FALSE(Value::list({true}) == Value::list({true, Value{}}));
    CHECK_FALSE(Value::map({{"a", true}}) == Value::map({{"a", false}}));
    CHECK_FALSE(Value{Array{0x55, {}, {}}} == Value{Array{0x81, {}, {}}});
    const auto descriptor = std::make_shared<const Value>(std::uint64_t{9});
    CHECK_FALSE(Value{Array{0xa1, {"x"}, descriptor}} == Value{Array{0xa1, {"x"}, {}}});
    CHECK(Value::described(std::uint64_t{9}, "x") == Value::described(std::uint64_t{9}, "x"));
    CHECK_FALSE(Value::described(std::uint64_t{9}, "x") == Value::described(std::uint64_t{8}, "x"));
    CHECK(Value{} == Value{});
}

TEST_CASE("Value: to_string returns readable text") {
    CHECK(Value::map({{Value::symbol("k"),
                       Value::list({Value{}, true, std::int32_t{-1}, "t", Value::binary("abc")})}})
              .to_string() == "{k: [null, true, -1, \"t\", binary of 3]}");
    CHECK(Value::described(std::uint64_t{9}, Array{0x55, {std::int64_t{1}, std::int64_t{2}}, {}})
              .to_string() == "@9 array[1, 2]");
    CHECK(Value{some_uuid()}.to_string() == "00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE("Timestamp: a time outside of the clock's range is told so, and sent as the farthest") {
    using sessionq::is_beyond;
    using sessionq::WallTime;
    CHECK(Timestamp{1'700'000'000'123}.time() ==
          WallTime{std::chrono::milliseconds{1'700'000'000'123}});
    CHECK(Timestamp::of(Timestamp{-1}.time()) == Timestamp{-1});
    CHECK_FALSE(is_beyond(Timestamp{9'000'000'000'000}.time()));
    CHECK_FALSE(is_beyond(Timestamp{-9'000'000'000'000}.time()));
    for (const std::int64_t later :
         {std::int64_t{9'223'372'036'855}, std::int64_t{253'402'300'799'999},
          std::numeric_limits<std::int64_t>::max()}) {
        CHECK(Timestamp{later}.time() == WallTime::max());
        CHECK(Timestamp{-later}.time() == WallTime::min());
    }
    CHECK(Timestamp{std::numeric_limits<std::int64_t>::min()}.time() == WallTime::min());
    CHECK(Timestamp::of(WallTime::max()) == Timestamp{253'402'300'799'999});
    CHECK(Timestamp::of(WallTime::min()) == Timestamp{-62'135'596'800'000});
    CHECK(is_beyond(WallTime::max()));
    CHECK_FALSE(is_beyond(WallTime{}));
}
