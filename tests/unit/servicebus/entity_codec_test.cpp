#include "servicebus/entity_codec.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "amqp/peek_wait.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using amqp::Value;

TEST_CASE("entity codec: a broker is told how long it may wait if its open offers that, else not") {
    const Value name = Value::symbol(std::string{amqp::peek_wait});
    const auto told = [&](Duration wait, const amqp::Map& open) {
        servicebus::Request request{.wait = wait};
        servicebus::offer_wait(request, amqp::encode(Value{open}));
        return request.properties;
    };
    CHECK(told(1s, {{name, false}}).empty());
    CHECK(told(1s, {{Value::symbol("product"), "x"}}).empty());
    CHECK(told(0s, {{name, true}}).empty());
    servicebus::Request unopened{.wait = 1s};
    servicebus::offer_wait(unopened, "");
    CHECK(unopened.properties.empty());
    const auto milliseconds = [&](Duration wait) {
        const amqp::Map properties = told(wait, {{Value::symbol("product"), "x"}, {name, true}});
        REQUIRE(properties.size() == 1);
        CHECK(properties.front().first == Value{amqp::peek_wait});
        return properties.front().second;
    };
    CHECK(milliseconds(1s) == Value{std::uint32_t{1000}});
    CHECK(milliseconds(Duration{1}) == Value{std::uint32_t{1}}); // not zero
    CHECK(milliseconds(Duration::max()) == Value{std::uint32_t{0xffffffff}});
}
