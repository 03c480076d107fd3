#include "groups/durable.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/message_codec.hpp"

using namespace sessionq;

namespace {

amqp::MessageHeader header_of(const std::string& encoded) {
    return amqp::MessageHeader::read(amqp::MessageSections::find(encoded).value().header).value();
}

} // namespace

TEST_CASE("durable: a message is marked, and nothing else of it changes") {
    const std::string plain = amqp::encode_message(Message::text("a", "body"), {});
    const std::string durable = groups::make_durable(plain);
    CHECK(header_of(durable).durable);
    const auto before = amqp::MessageSections::find(plain).value();
    const auto after = amqp::MessageSections::find(durable).value();
    CHECK(after.properties == before.properties);
    CHECK(after.body == before.body);
}

TEST_CASE("durable: the other fields of a header are kept") {
    Message brief = Message::text("a", "body");
    brief.time_to_live = std::chrono::seconds{5};
    const std::string durable = groups::make_durable(amqp::encode_message(brief, {}));
    CHECK(header_of(durable).durable);
    CHECK(header_of(durable).time_to_live == 5000);
    CHECK(groups::make_durable(durable) == durable);
}

TEST_CASE("durable: bytes that are not a message stay as they are") {
    CHECK(groups::make_durable("nonsense") == "nonsense");
}
