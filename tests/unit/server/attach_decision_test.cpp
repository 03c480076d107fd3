// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "server/attach_decision.hpp"

using namespace sessionq;
using namespace sessionq::server;
using amqp::Value;

namespace {

using What = AttachDecision::What;
using Wish = SessionFilter::Wish;

constexpr std::uint64_t session_filter_code = 0x000000137000000C;

std::string filter_of(Value value) {
    return amqp::encode(
        Value::map({{Value::symbol("com.microsoft:session-filter"), std::move(value)}}));
}

amqp::Attach receiver(std::string address, std::string filter = {}) {
    return {.source = {.address = std::move(address), .filter = std::move(filter)},
            .target = {.address = "me"}};
}

amqp::Attach sender(std::string address) {
    return {.source = {.address = "me"}, .target = {.address = std::move(address)}};
}

std::optional<Value> session_in(const std::string& encoded) {
    const auto map = amqp::decode(encoded);
    const Value* found = map ? map->find("com.microsoft:session-filter") : nullptr;
    return found != nullptr ? std::optional{*found} : std::nullopt;
}

} // namespace

TEST_CASE("AttachDecision: the address and the peer's role decide the purpose of a link") {
    CHECK(decide_attach(receiver("$cbs"), true).what == What::claims);
    CHECK(decide_attach(sender("$cbs"), false).what == What::claims);
    const auto management = decide_attach(sender("orders/$management"), false);
    CHECK(management.what == What::management);
    CHECK(management.entity == "orders");
    const auto send = decide_attach(sender("/orders"), false);
    CHECK(send.what == What::send);
    CHECK(send.entity == "orders");
    const auto receive = decide_attach(receiver("amqps://localhost/orders"), true);
    CHECK(receive.what == What::receive);
    CHECK(receive.entity == "orders");
}

TEST_CASE(
    "AttachDecision: an absent filter, null and a session id (even empty) mean different things") {
    CHECK(decide_attach(receiver("orders"), true).session.wish == Wish::none);
    CHECK(decide_attach(receiver("orders", filter_of({})), true).session.wish == Wish::any);
    const auto named = decide_attach(receiver("orders", filter_of("a")), true).session;
    CHECK(named.wish == Wish::named);
    CHECK(named.id == "a");
    const auto empty = decide_attach(receiver("orders", filter_of("")), true).session;
    CHECK(empty.wish == Wish::named);
    CHECK(empty.id.empty());
}

TEST_CASE("AttachDecision: a described filter means the same and gets a described answer") {
    const Value code{session_filter_code};
    const auto any =
        decide_attach(receiver("orders", filter_of(Value::described(code, Value{}))), true).session;
    CHECK(any.wish == Wish::any);
    CHECK(session_in(answer_session_filter(any, "S1")) == Value::described(code, "S1"));
    const auto plain = decide_attach(receiver("orders", filter_of({})), true).session;
    CHECK(session_in(answer_session_filter(plain, "S1")) == Value{"S1"});
}

TEST_CASE("AttachDecision: refuses a filter for a shared session") {
    const Value list = Value::described(std::uint64_t{0x137000000E}, Value::list({"a", Value{}}));
    CHECK(decide_attach(receiver("orders", filter_of(list)), true).refusal.name ==
          "amqp:not-implemented");
    CHECK(decide_attach(receiver("orders", filter_of(std::int32_t{5})), true).what == What::refuse);
    const std::string other = amqp::encode(
        Value::map({{Value::symbol("com.microsoft:non-exclusive-session-filter"), list}}));
    CHECK(decide_attach(receiver("orders", other), true).refusal.name == "amqp:not-implemented");
}

TEST_CASE("AttachDecision: a sender that sends settled means receive-and-delete") {
    auto attach = receiver("orders");
    for (const auto mode : {amqp::SenderSettleMode::mixed, amqp::SenderSettleMode::unsettled}) {
        attach.sender_mode = mode;
        CHECK(decide_attach(attach, true).mode == broker::ReceiveMode::peek_lock);
    }
    attach.sender_mode = amqp::SenderSettleMode::settled;
    CHECK(decide_attach(attach, true).mode == broker::ReceiveMode::receive_and_delete);
}

TEST_CASE("AttachDecision: an accept waits for the client's timeout or the default") {
    auto attach = receiver("orders", filter_of({}));
    CHECK(decide_attach(attach, true).wait == std::chrono::seconds{65});
    const auto with = [&](Value timeout) {
        attach.properties = amqp::encode(
            Value::map({{Value::symbol("com.microsoft:timeout"), std::move(timeout)}}));
        return decide_attach(attach, true).wait;
    };
    CHECK(with(std::uint32_t{59960}) == std::chrono::milliseconds{59960});
    CHECK(with(std::int64_t{100}) == std::chrono::milliseconds{100});
    CHECK(with(std::int32_t{-5}) == Duration::zero());
    CHECK(with("soon") == std::chrono::seconds{65});
}

TEST_CASE("AttachDecision: a consumer has the priority of its link's property, or none (DG6)") {
    auto attach = receiver("orders", filter_of({}));
    CHECK(decide_attach(attach, true).priority == 0);
    const auto with = [&](Value priority) {
        attach.properties =
            amqp::encode(Value::map({{Value::symbol("priority"), std::move(priority)}}));
        return decide_attach(attach, true).priority;
    };
    CHECK(with(std::int32_t{-5}) == -5);
    CHECK(with(std::int64_t{7}) == 7);
    CHECK(with(std::numeric_limits<std::int64_t>::max()) == std::numeric_limits<int>::max());
    CHECK(with("first") == 0);
}

TEST_CASE("AttachDecision: refuses an invalid address and says why") {
    CHECK(decide_attach(receiver(""), true).refusal.name == "amqp:invalid-field");
    CHECK(decide_attach(receiver("/"), true).refusal.name == "amqp:not-found");
    auto dynamic = receiver("");
    dynamic.source.dynamic = true;
    CHECK(decide_attach(dynamic, true).refusal.name == "amqp:not-implemented");
    auto absent = sender("orders");
    absent.target.present = false;
    CHECK(decide_attach(absent, false).refusal.name == "amqp:invalid-field");
    const amqp::Attach to_relay{.target = {.address = ""}};
    CHECK(decide_attach(to_relay, false).refusal.name == "amqp:not-implemented");
    const amqp::Attach to_coordinator{.target = {.coordinator = true}};
    CHECK(decide_attach(to_coordinator, false).what == What::transact);
}

TEST_CASE("AttachDecision: the distribution-mode `copy` means a browser") {
    amqp::Attach attach = receiver("orders");
    attach.source.copies = true;
    CHECK(decide_attach(attach, true).what == What::browse);
    attach.sender_mode = amqp::SenderSettleMode::settled;
    CHECK(decide_attach(attach, true).what == What::browse);
    attach.source.filter = filter_of("a");
    CHECK(decide_attach(attach, true).session.id == "a");
    attach.source.filter = filter_of({});
    CHECK(decide_attach(attach, true).refusal.name == "amqp:not-implemented");
}

TEST_CASE("AttachDecision: a filter that it does not know is refused by name") {
    const auto refusal = [](Value key, Value value) {
        const std::string filter = amqp::encode(Value::map({{std::move(key), std::move(value)}}));
        return decide_attach(receiver("orders", filter), true).refusal;
    };
    const Value selector =
        Value::described(Value::symbol("apache.org:selector-filter:string"), "colour = 'red'");
    CHECK(refusal(Value::symbol("jms-selector"), selector).name == "amqp:not-implemented");
    CHECK(refusal(Value::symbol("jms-selector"), selector).text ==
          "the filter 'apache.org:selector-filter:string' is not supported");
    CHECK(refusal(Value::symbol("mine"), "x").text == "the filter 'mine' is not supported");
    const Value by_code = Value::described(std::uint64_t{0x468C00000004}, "a = 1");
    CHECK(refusal(Value::symbol("mine"), by_code).text ==
          "the filter 'apache.org:selector-filter:string' is not supported");
    const Value other_code = Value::described(std::uint64_t{5}, "a = 1");
    CHECK(refusal(Value::symbol("mine"), other_code).text == "the filter 'mine' is not supported");
    CHECK(refusal(Value::symbol(std::string(300, 'n')), "x").text.size() < 150);
    CHECK(refusal(Value::symbol("mine"), {}).empty()); // null: none
}

TEST_CASE("AttachDecision: only entities with sessions are received by session") {
    const auto by_session = decide_attach(receiver("orders", filter_of({})), true);
    const auto plain = decide_attach(receiver("orders"), true);
    CHECK(check_receive(by_session, true).empty());
    CHECK(check_receive(plain, false).empty());
    CHECK(check_receive(by_session, false).name == "amqp:not-allowed");
    CHECK(check_receive(by_session, false).text.find("does not require sessions") !=
          std::string::npos);
    CHECK(check_receive(plain, true).name == "amqp:not-allowed");
    CHECK(check_receive(plain, true).text.find("entity that requires sessions") !=
          std::string::npos);
}

TEST_CASE(
    "AttachDecision: the answer echoes the attach without its properties and adds a message size") {
    auto attach = receiver("amqps://localhost/orders", filter_of("a"));
    attach.sender_mode = amqp::SenderSettleMode::unsettled;
    attach.receiver_mode = amqp::ReceiverSettleMode::second;
    attach.properties = amqp::encode(Value::map({{Value::symbol("x"), 1}}));
    const amqp::Attach echo = echo_attach(attach, 1024);
    CHECK(echo.source.address == "amqps://localhost/orders");
    CHECK(echo.target.address == "me");
    CHECK(echo.sender_mode == amqp::SenderSettleMode::unsettled);
    CHECK(echo.receiver_mode == amqp::ReceiverSettleMode::second);
    CHECK(echo.max_message_size == 1024);
    CHECK(echo.properties.empty());
}
