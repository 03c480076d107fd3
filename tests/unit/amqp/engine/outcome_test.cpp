// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "amqp/engine/outcome.hpp"

using namespace sessionq::amqp;

namespace {

Outcome again(const Outcome& outcome) {
    std::string encoded;
    outcome.write(encoded);
    return Outcome::read(encoded);
}

} // namespace

TEST_CASE("Outcome: what is written is read back") {
    const std::string info = encode(Value::map({{Value::symbol("DeadLetterReason"), "bad"}}));
    for (const OutcomeKind kind : {OutcomeKind::accepted, OutcomeKind::released}) {
        CHECK(again({.kind = kind}).kind == kind);
    }
    const Outcome rejected = again(
        {.kind = OutcomeKind::rejected, .error = {.name = "a:b", .text = "why", .info = info}});
    CHECK(rejected.error.name == "a:b");
    CHECK(rejected.error.text == "why");
    CHECK(rejected.error.info == info);
    CHECK(again({.kind = OutcomeKind::rejected}).error.empty());
    const Outcome modified =
        again({.kind = OutcomeKind::modified, .undeliverable_here = true, .annotations = info});
    CHECK_FALSE(modified.delivery_failed);
    CHECK(modified.undeliverable_here);
    CHECK(modified.annotations == info);
}

TEST_CASE("Outcome: a state on the way is not written, and one that cannot be read is its kind") {
    std::string encoded;
    Outcome{.kind = OutcomeKind::received}.write(encoded);
    Outcome{.kind = OutcomeKind::other}.write(encoded);
    CHECK(encoded.empty());
    CHECK(Outcome::read({}).kind == OutcomeKind::none);
    CHECK(Outcome::kind_of(encode(Value{"text"})) == OutcomeKind::other);
    const auto described = [](std::uint64_t code, Value value) {
        return encode(Value::described(code, std::move(value)));
    };
    CHECK(Outcome::read(described(0x23, List{std::uint32_t{1}})).kind == OutcomeKind::received);
    CHECK(Outcome::read(described(0x34, List{})).kind == OutcomeKind::transactional);
    CHECK(Outcome::read(described(0x33, List{})).kind == OutcomeKind::other);
    CHECK(Outcome::read(described(0x25, "no list")).kind == OutcomeKind::rejected);
    CHECK(Outcome::read(described(0x25, List{"no error"})).error.name == "amqp:decode-error");
    CHECK(Outcome::read(described(0x27, List{"no boolean", true})).kind == OutcomeKind::modified);
}

TEST_CASE("Condition: is cut between characters to fit, and loses what it adds first") {
    const Condition whole{.name = "a:b", .text = "x\xc3\xa4y", .info = "12345"};
    CHECK(shortened(whole, 12).info == "12345");
    CHECK(shortened(whole, 11).info.empty());
    CHECK(shortened(whole, 11).text == whole.text);
    CHECK(shortened(whole, 6).text == "x\xc3\xa4");
    CHECK(shortened(whole, 5).text == "x");
    CHECK(shortened(whole, 3).text.empty());
    CHECK(shortened(whole, 0).name == "amqp:internal-error"); // no part of a name is one
}
