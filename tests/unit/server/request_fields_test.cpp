// SPDX-License-Identifier: MIT
#include "server/request_fields.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::server;
using amqp::Value;

TEST_CASE("request fields: a field of another type reads as absent") {
    const Value body = Value::map({{"text", "a"}, {"number", std::int32_t{7}}});
    CHECK(read_text(body, "text") == "a");
    CHECK(read_number(body, "number") == 7);
    CHECK_FALSE(read_text(body, "number"));
    CHECK_FALSE(read_number(body, "text"));
    CHECK_FALSE(read_text(body, "none"));
    CHECK_FALSE(read_number(Value{}, "number"));
}

TEST_CASE("request fields: one bad item rejects the whole list") {
    const auto read = [](Value numbers) {
        return read_sequences(Value::map({{"sequence-numbers", std::move(numbers)}}));
    };
    CHECK(read(Value::list({std::int64_t{3}, std::int32_t{1}})) == std::vector<std::int64_t>{3, 1});
    CHECK(read(Value::list({})) == std::vector<std::int64_t>{});
    CHECK_FALSE(read(Value::list({std::int64_t{3}, "1"})));
    CHECK_FALSE(read(Value{std::int64_t{3}}));
}

TEST_CASE("request fields: an item that is not a UUID is a token that nobody holds") {
    const auto tokens = read_lock_tokens(
        Value::map({{"lock-tokens", amqp::Array{.element = 0x40, .items = {Value{}}}}}));
    REQUIRE(tokens);
    REQUIRE(tokens->size() == 1);
    CHECK(tokens->front().uuid() == server::LockToken::of(core::Uuid{}).uuid());
}

TEST_CASE("request fields: a page needs both skip and top, neither negative") {
    const auto read = [](Value skip, Value top) {
        return read_page(Value::map({{"skip", std::move(skip)}, {"top", std::move(top)}}));
    };
    const Page page = read(std::int32_t{2}, std::int32_t{10});
    CHECK(page.missing.empty());
    CHECK(page.skip == 2);
    CHECK(page.top == 10);
    CHECK(read(std::int32_t{-1}, std::int32_t{10}).missing == "skip");
    CHECK(read(std::int32_t{0}, std::int32_t{-1}).missing == "top");
    CHECK(read({}, {}).missing == "skip");
    CHECK(read(std::int32_t{0}, "10").missing == "top");
    const Page empty = read(std::int32_t{0}, std::int32_t{0});
    CHECK(empty.missing.empty());
    CHECK(empty.top == 0);
}
