// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "server/settlement.hpp"

using namespace sessionq;
using namespace sessionq::server;
using amqp::OutcomeKind;
using amqp::Value;

TEST_CASE("Settlement: maps each outcome to the broker's, and ignores delivery-failed") {
    CHECK(decide_settlement({.kind = OutcomeKind::accepted}, false)->outcome ==
          broker::Outcome::complete);
    CHECK(decide_settlement({.kind = OutcomeKind::released}, false)->outcome ==
          broker::Outcome::release);
    for (const bool failed : {false, true}) {
        CHECK(decide_settlement({.kind = OutcomeKind::modified, .delivery_failed = failed}, false)
                  ->outcome == broker::Outcome::abandon);
        CHECK(decide_settlement({.kind = OutcomeKind::modified,
                                 .delivery_failed = failed,
                                 .undeliverable_here = true},
                                false)
                  ->outcome == broker::Outcome::defer);
    }
    CHECK(decide_settlement({.kind = OutcomeKind::rejected}, false)->outcome ==
          broker::Outcome::dead_letter);
}

TEST_CASE("Settlement: an undecided outcome waits, unless the delivery is settled") {
    for (const auto kind : {OutcomeKind::none, OutcomeKind::received, OutcomeKind::transactional,
                            OutcomeKind::other}) {
        CHECK_FALSE(decide_settlement({.kind = kind}, false));
        CHECK(decide_settlement({.kind = kind}, true)->outcome == broker::Outcome::release);
    }
}

TEST_CASE(
    "Settlement: dead-letter reasons have string or symbol keys, other entries become properties") {
    for (const bool symbols : {false, true}) {
        CAPTURE(symbols);
        const auto key = [&](const char* name) {
            return symbols ? Value::symbol(name) : Value{name};
        };
        const std::string info =
            amqp::encode(Value::map({{key("DeadLetterReason"), "bad"},
                                     {key("DeadLetterErrorDescription"), "very"},
                                     {key("attempt"), std::int32_t{3}}}));
        const auto decision = decide_settlement(
            {.kind = OutcomeKind::rejected,
             .error = {.name = "com.microsoft:dead-letter", .text = "t", .info = info}},
            true);
        REQUIRE(decision);
        REQUIRE(decision->changes);
        CHECK(decision->changes->dead_letter->reason == "bad");
        CHECK(decision->changes->dead_letter->description == "very");
        CHECK(decision->changes->properties ==
              Properties{{"attempt", PropertyValue{std::int64_t{3}}}});
    }
}

TEST_CASE("Settlement: without reasons the error's text describes a dead letter") {
    const auto decision =
        decide_settlement({.kind = OutcomeKind::rejected,
                           .error = {.name = "com.microsoft:dead-letter", .text = "t"}},
                          false);
    REQUIRE(decision->changes);
    CHECK(decision->changes->dead_letter->description == "t");
}

TEST_CASE("Settlement: a reason that is no text stays a property of its type") {
    const Value time{amqp::Timestamp{1'700'000'000'000}};
    broker::Changes changes;
    read_changes(Value::map({{"DeadLetterReason", time}, {"DeadLetterErrorDescription", "text"}}),
                 changes);
    CHECK(changes.dead_letter->reason.empty());
    CHECK(changes.dead_letter->description == "text");
    CHECK(changes.encoded.at("DeadLetterReason") == amqp::encode(time));
    CHECK(changes.properties.size() == 1);
}

TEST_CASE("Settlement: abandon and defer read properties from the annotations") {
    const std::string annotations = amqp::encode(Value::map({{Value::symbol("seen"), true}}));
    const auto decision =
        decide_settlement({.kind = OutcomeKind::modified, .annotations = annotations}, false);
    REQUIRE(decision->changes);
    CHECK(decision->changes->properties == Properties{{"seen", PropertyValue{true}}});
}

TEST_CASE("Settlement: changed properties keep the types the peer gave them") {
    const amqp::ClockReading at{};
    const auto annotations = Value::map(
        {{"int", std::int32_t{-3}}, {"byte", std::uint8_t{7}}, {"float", 0.5F}, {"text", "x"}});
    const auto decision = decide_settlement(
        {.kind = OutcomeKind::modified, .annotations = amqp::encode(annotations)}, false);
    REQUIRE(decision->changes);
    const auto content = amqp::EncodedContent::make(
                             amqp::encode_message(Message::of("body").in_session("s"), at), at)
                             .value();
    const auto changed = content->with_changes(
        {.properties = decision->changes->properties, .encoded = decision->changes->encoded});
    for (const char* name : {"int", "byte", "float", "text"}) {
        CAPTURE(name);
        const std::string_view properties =
            dynamic_cast<const amqp::EncodedContent&>(*changed).sections().application_properties;
        CHECK(amqp::find_entry(properties, name) == amqp::encode(*annotations.find(name)));
    }
}

TEST_CASE(
    "Settlement: success is answered with the same kind and no error, failure with a rejection") {
    const amqp::Outcome dead_letter{.kind = OutcomeKind::rejected,
                                    .error = {.name = "com.microsoft:dead-letter"}};
    const auto done = answer_settlement(dead_letter, std::nullopt, LockKind::message);
    CHECK(done.kind == OutcomeKind::rejected);
    CHECK(done.error.empty());
    const auto deferred =
        answer_settlement({.kind = OutcomeKind::modified, .undeliverable_here = true}, std::nullopt,
                          LockKind::message);
    CHECK(deferred.kind == OutcomeKind::modified);
    CHECK(deferred.undeliverable_here);
    for (const Errc code : {Errc::lock_lost, Errc::already_settled}) {
        const auto failed =
            answer_settlement({.kind = OutcomeKind::accepted}, code, LockKind::message);
        CHECK(failed.kind == OutcomeKind::rejected);
        CHECK(failed.error.name == "com.microsoft:message-lock-lost");
        CHECK_FALSE(failed.error.text.empty());
    }
}
