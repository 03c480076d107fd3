// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/lock_token.hpp"
#include "servicebus/session_attach.hpp"

using namespace sessionq;
using namespace sessionq::detail::servicebus;
using amqp::Value;

namespace {

ports::AcceptRequest accept_of(std::optional<std::string> session) {
    ports::AcceptRequest request;
    request.entity = "orders";
    request.session_id = std::move(session);
    request.wait = std::chrono::milliseconds{1500};
    return request;
}

std::string filter_for(Value session) {
    return amqp::encode(
        Value::map({{Value::symbol("com.microsoft:session-filter"), std::move(session)}}));
}

} // namespace

TEST_CASE("session attach: the next session is asked for with a wait, a named one without") {
    const amqp::Attach next = to_attach(accept_of({}), "link");
    CHECK(next.source.address == "orders");
    CHECK(next.target.address == "link");
    CHECK(next.source.filter == filter_for(Value{}));
    const auto properties = amqp::decode(next.properties);
    REQUIRE(properties);
    CHECK(properties->find("com.microsoft:timeout")->integer() == 1500);

    ports::AcceptRequest shortest = accept_of({});
    shortest.wait = {};
    CHECK(amqp::decode(to_attach(shortest, "link").properties)
              ->find("com.microsoft:timeout")
              ->integer() == 1);

    const amqp::Attach named = to_attach(accept_of("ada"), "link");
    CHECK(named.source.filter == filter_for(Value{"ada"}));
    CHECK(named.properties.empty());
    CHECK(named.receiver_mode == amqp::ReceiverSettleMode::second);
}

TEST_CASE("session attach: an entity without sessions is asked for without a filter") {
    ports::AcceptRequest request = accept_of({});
    request.scope = ports::Scope::entity;
    request.mode = ports::ReceiveMode::receive_and_delete;
    const amqp::Attach attach = to_attach(request, "link");
    CHECK(attach.source.filter.empty());
    CHECK(attach.properties.empty());
    CHECK(attach.sender_mode == amqp::SenderSettleMode::settled);
}

TEST_CASE("session attach: the answer names the session, bare or described") {
    amqp::Attach answer;
    CHECK_FALSE(granted_session(answer));
    answer.source.filter = filter_for(Value{"ada"});
    CHECK(granted_session(answer) == "ada");
    answer.source.filter = filter_for(Value::described(7, Value{"ben"}));
    CHECK(granted_session(answer) == "ben");
}

TEST_CASE("session attach: the answer tells the broker's times, if it does") {
    const WallTime until{std::chrono::seconds{1'700'000'060}};
    const WallTime now{std::chrono::seconds{1'700'000'000}};
    amqp::Attach answer;
    CHECK_FALSE(grant_times(answer).locked_until);
    answer.properties = amqp::encode(
        Value::map({{Value::symbol("com.microsoft:locked-until-utc"), amqp::ticks_of(until)},
                    {Value::symbol(amqp::broker_time), amqp::ticks_of(now)}}));
    CHECK(grant_times(answer).locked_until == until);
    CHECK(grant_times(answer).granted_at == now);
}
