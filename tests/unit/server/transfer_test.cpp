// SPDX-License-Identifier: MIT
// R28: what no client could decode is refused at the door.
#include "server/transfer.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "broker/instant.hpp"

using namespace sessionq;

namespace {

std::string encoded(const Message& message) { return amqp::encode_message(message, {}); }

template <typename T>
std::string fault_of(const core::Result<T>& decoded) {
    return decoded
               ? std::string{}
               : std::string{to_string(decoded.failure().code)} + ": " + decoded.failure().detail;
}

std::string fault(std::string_view message, const server::Limits& limits) {
    return fault_of(server::decode_message(message, {}, limits));
}

std::string batch_fault(std::string_view batch, const server::Limits& limits) {
    server::BatchDecoder decoder{batch, limits};
    CHECK(decoder.decode(100'000, {}));
    return fault_of(std::move(decoder).take());
}

} // namespace

TEST_CASE("transfer: a batch is bounded by the memory of its messages, and not by their number") {
    const std::string one = encoded({.body = "b", .message_id = "m"});
    const auto batch = [&](std::size_t count) {
        return amqp::make_batch(std::vector<std::string>(count, one));
    };
    const std::size_t exact = 3 * server::BatchDecoder::message_bytes + batch(3).size();
    CHECK(batch_fault(batch(3), {.memory = {.batch = exact}}).empty());
    CHECK(server::BatchDecoder{batch(3), {}}.memory() == exact);
    const server::Limits less{.memory = {.batch = exact - 1}};
    CHECK(batch_fault(batch(3), less) == "message_too_large: a batch may take at most " +
                                             std::to_string(exact - 1) +
                                             " bytes, and 384 count for each message beside its "
                                             "own");
    CHECK(server::BatchDecoder{batch(100'000), less}.memory() == 0); // nothing of it is kept
    CHECK(batch_fault(batch(10'000), {}).empty());
    const auto content = amqp::EncodedContent::make(one, {}).value();
    CHECK(content->bytes() - one.size() <= server::BatchDecoder::message_bytes);
}

TEST_CASE("transfer: properties that Azure Service Bus refuses are refused by name, as it does") {
    const auto with = [](PropertyValue value) {
        return encoded({.body = "b",
                        .message_id = "m",
                        .properties = {{"good", std::int64_t{1}}, {"bad", std::move(value)}}});
    };
    CHECK(fault(with(std::vector<std::byte>(3)), {}) ==
          "message_too_large: application property 'bad': Serialization operation failed due to "
          "unsupported type System.Byte[].");
    CHECK(fault(with(std::vector<std::byte>(300)), {}).starts_with("message_too_large: "));
    const std::size_t most = server::Limits{}.property_value_bytes;
    CHECK(most == 32'768);
    CHECK(fault(with(std::string(most - 5, 'x')), {}).empty());
    CHECK(fault(with(std::string(most - 4, 'x')), {}) ==
          "internal_error: application property 'bad' has 32769 bytes; at most 32768 are taken");
    const std::string batch =
        amqp::make_batch({encoded({.body = "b"}), with(std::vector<std::byte>(3))});
    CHECK(batch_fault(batch, {}).starts_with("message_too_large: application property 'bad'"));
}

TEST_CASE("transfer: a partition key beside another session id is refused") {
    const auto with = [](std::optional<std::string> session, std::string key) {
        return fault(encoded({.body = "b",
                              .session_id = std::move(session),
                              .message_id = "m",
                              .partition_key = std::move(key)}),
                     {});
    };
    CHECK(with("a", "").empty());
    CHECK(with("a", "a").empty());
    CHECK(with(std::nullopt, "a").empty());
    CHECK(with("a", "b") ==
          "not_supported: the PartitionKey 'b' must be the same as the SessionId 'a'");
    CHECK(with("", "b").starts_with("not_supported: "));
}

TEST_CASE("transfer: the properties of a message have at most so many bytes, in a batch too") {
    const Message message{.message_id = "m", .properties = {{"a", std::string(100, 'x')}}};
    const std::string one = encoded(message);
    const auto sections = amqp::EncodedContent::make(one, {}).value()->sections();
    const std::size_t exact = sections.properties.size() + sections.application_properties.size();
    const server::Limits enough{.property_bytes = exact};
    const server::Limits less{.property_bytes = exact - 1};
    const std::string batch = amqp::make_batch({one, one});
    CHECK(fault(one, enough).empty());
    CHECK(batch_fault(batch, enough).empty());
    const std::string why = "message_too_large: the properties of a message may have at most " +
                            std::to_string(exact - 1) + " bytes; they have " +
                            std::to_string(exact);
    CHECK(fault(one, less) == why);
    CHECK(batch_fault(batch, less) == why);
    CHECK(fault(encoded({.body = std::string(100'000, 'b'), .message_id = "m"}), {}).empty());
}

TEST_CASE("batch decoder: decodes so many at a time, and stops at one that cannot be") {
    const std::string one = encoded({.body = "b", .message_id = "m"});
    const server::Limits limits;
    const std::string batch = amqp::make_batch(std::vector<std::string>(5, one));
    server::BatchDecoder decoder{batch, limits};
    CHECK(decoder.left() == 5);
    CHECK_FALSE(decoder.decode(2, {}));
    CHECK(decoder.left() == 3);
    CHECK_FALSE(decoder.decode(2, {}));
    CHECK(decoder.decode(2, {}));
    CHECK(std::move(decoder).take().value().size() == 5);

    const std::string broken = amqp::make_batch({one, "x", one});
    server::BatchDecoder stops{broken, limits};
    CHECK_FALSE(stops.decode(1, {}));
    CHECK(stops.decode(1, {}));
    CHECK(std::move(stops).take().failure().code == Errc::protocol_error);

    CHECK(server::BatchDecoder{batch, {.memory = {.batch = 1'000}}}.decode(1, {}));
    CHECK(server::BatchDecoder{"no batch", limits}.left() == 0);
}

TEST_CASE("transfer: properties that are malformed are refused, and not replaced by a new id") {
    std::string malformed;
    amqp::Encoder encoder{malformed};
    encoder.write(amqp::Value::described(
        amqp::section::properties,
        amqp::List(amqp::MessageProperties::field_count + 1, amqp::Value{"one too many"})));
    encoder.write(amqp::Value::described(amqp::section::data, amqp::Value::binary("b")));
    CHECK(fault(malformed, {}).find("malformed properties") != std::string::npos);
}

TEST_CASE("transfer: what no client could decode is refused by name, in a batch too") {
    using namespace std::string_literals;
    const std::string body = "\0\x53\x75\xa0\x01"
                             "b"s;
    // an application property that is an array of a million times true, in 10 bytes
    const std::string array =
        "\0\x53\x74\xc1\x0e\x02\xa1\x01k\xf0\0\0\0\x05\0\x0f\x42\x40\x41"s + body;
    const std::string why =
        "protocol_error: the message cannot be decoded: malformed application property 'k'";
    CHECK(fault(array, {}) == why);
    CHECK(batch_fault(amqp::make_batch({encoded({.body = "b"}), array}), {}) == why);
    CHECK(fault("\0\x53\x74\xc1\x05\x02\xa1\x01k\xff"s + body, {}).starts_with("protocol_error"));
    CHECK(fault("\0\x53\x73\xc0\x02\x01\x46"s + body, {}) ==
          "protocol_error: the message cannot be decoded: malformed property 'message-id'");
}
