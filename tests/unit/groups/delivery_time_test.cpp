#include "groups/delivery_time.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "groups/durable.hpp"

using namespace sessionq;

namespace {

constexpr WallTime when{std::chrono::milliseconds{1'700'000'000'123}};

std::optional<std::int64_t> annotated(const std::string& encoded, std::string_view name) {
    const auto value = amqp::decode(
        amqp::find_entry(amqp::MessageSections::find(encoded).value().message_annotations, name));
    return value ? value->integer() : std::nullopt;
}

} // namespace

TEST_CASE("delivery time: it is added to the other annotations, and nothing else changes") {
    Message later = Message::text("a", "body");
    SUBCASE("with annotations") { later.scheduled_enqueue_time = when; }
    SUBCASE("without") {}
    const std::string plain = amqp::encode_message(later, {});
    const std::string told =
        groups::make_durable(groups::with_delivery_time(plain, "x-opt-delivery-time", when));
    CHECK(annotated(told, "x-opt-delivery-time") == 1'700'000'000'123);
    const auto before = amqp::MessageSections::find(plain).value();
    const auto after = amqp::MessageSections::find(told).value();
    CHECK(amqp::find_entry(after.message_annotations, "x-opt-scheduled-enqueue-time") ==
          amqp::find_entry(before.message_annotations, "x-opt-scheduled-enqueue-time"));
    CHECK(after.properties == before.properties);
    CHECK(after.body == before.body);
}

TEST_CASE("delivery time: bytes that are not a message stay as they are") {
    CHECK(groups::with_delivery_time("nonsense", "name", when) == "nonsense");
}
