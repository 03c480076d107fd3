// SPDX-License-Identifier: MIT
#include <set>

#include <doctest/doctest.h>

#include "amqp/codec/decoder.hpp"
#include "codec/samples.hpp"
#include "support/random_message.hpp"

using namespace sessionq;
using namespace sessionq::amqp;

namespace {

/// Collects the alternatives of `Value` that occur in a value.
void collect_kinds(const Value& value, std::set<std::size_t>& kinds) {
    kinds.insert(value.held().index());
    if (const auto* items = value.items()) {
        for (const Value& item : *items) {
            collect_kinds(item, kinds);
        }
    }
    if (const auto* map = value.as<Map>()) {
        for (const auto& [key, item] : *map) {
            collect_kinds(item, kinds);
        }
    }
}

} // namespace

TEST_CASE("random message: each is valid, and all types, sections and bodies occur") {
    core::Random random{1};
    std::set<std::size_t> kinds;
    std::set<BodyKind> bodies;
    std::size_t footers = 0;
    std::size_t longer = 0;
    for (int i = 0; i < 300; ++i) {
        const std::string message = tests::random_message(random);
        const auto content = parse(message);
        CHECK(content->session_id() == "s");
        const MessageSections& sections = content->sections();
        bodies.insert(sections.body_kind);
        footers += sections.footer.empty() ? 0 : 1;
        std::string shortest;
        Decoder decoder{message};
        while (!decoder.at_end()) {
            const auto section = decoder.read();
            REQUIRE(section);
            REQUIRE(section->described() != nullptr);
            collect_kinds(section->described()->value, kinds);
            Encoder{shortest}.write(*section);
        }
        longer += shortest.size() < message.size() ? 1 : 0;
    }
    CHECK(kinds.size() == std::variant_size_v<Value::Held>);
    CHECK(bodies ==
          std::set{BodyKind::data, BodyKind::several_data, BodyKind::sequence, BodyKind::value});
    CHECK(footers > 30);
    CHECK(longer > 150);
}

TEST_CASE("random message: a seed gives the same message, and options are kept") {
    core::Random one{7};
    core::Random other{7};
    CHECK(tests::random_message(one) == tests::random_message(other));
    for (int i = 0; i < 100; ++i) {
        const auto content =
            parse(tests::random_message(one, {.session_id = std::nullopt, .hop_sections = false}));
        CHECK_FALSE(content->session_id());
        CHECK(content->sections().footer.empty());
        CHECK(content->sections().delivery_annotations.empty());
    }
}

TEST_CASE("random message: a value in any form is the same value") {
    core::Random random{3};
    for (const Value& value : tests::values_of_every_type()) {
        for (int i = 0; i < 5; ++i) {
            CHECK(decode(tests::encode_in_any_form(value, random)) == value);
        }
    }
    CHECK(decode(tests::encode_in_any_form(some_of_everything(), random)) == some_of_everything());
}
