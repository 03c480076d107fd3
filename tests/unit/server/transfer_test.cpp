// SPDX-License-Identifier: MIT
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
    CHECK(decoder.decode(limits.items_per_request, {}));
    return fault_of(std::move(decoder).take());
}

} // namespace

TEST_CASE("transfer: a batch has at most so many messages") {
    const server::Limits limits{.items_per_request = 3};
    const std::string one = encoded({.body = "b", .message_id = "m"});
    const auto batch = [&](std::size_t count) {
        return amqp::make_batch(std::vector<std::string>(count, one));
    };
    CHECK(batch_fault(batch(3), limits).empty());
    CHECK(batch_fault(batch(4), limits) ==
          "message_too_large: a batch may have at most 3 messages");
    CHECK(server::Limits{}.items_per_request == 4500);
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
    const server::Limits limits{.items_per_request = 5};
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

    const std::string many = amqp::make_batch(std::vector<std::string>(6, one));
    CHECK(server::BatchDecoder{many, limits}.decode(1, {}));
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
