#include "server/transfer.hpp"

#include <doctest/doctest.h>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/message_codec.hpp"
#include "broker/instant.hpp"

using namespace sessionq;

namespace {

std::string encoded(const Message& message) { return amqp::encode_message(message, {}); }

std::string fault(std::string_view transfer, std::uint32_t format, const server::Limits& limits) {
    const auto decoded = server::decode_transfer(transfer, format, {}, limits);
    return decoded
               ? std::string{}
               : std::string{to_string(decoded.failure().code)} + ": " + decoded.failure().detail;
}

} // namespace

TEST_CASE("transfer: a batch has at most so many messages") {
    const server::Limits limits{.items_per_request = 3};
    const std::string one = encoded({.body = "b", .message_id = "m"});
    const auto batch = [&](std::size_t count) {
        return amqp::make_batch(std::vector<std::string>(count, one));
    };
    CHECK(fault(batch(3), amqp::batch_format, limits).empty());
    CHECK(fault(batch(4), amqp::batch_format, limits) ==
          "message_too_large: a batch may have at most 3 messages; it has 4");
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
    CHECK(fault(one, 0, enough).empty());
    CHECK(fault(batch, amqp::batch_format, enough).empty());
    const std::string why = "message_too_large: the properties of a message may have at most " +
                            std::to_string(exact - 1) + " bytes; they have " +
                            std::to_string(exact);
    CHECK(fault(one, 0, less) == why);
    CHECK(fault(batch, amqp::batch_format, less) == why);
    CHECK(fault(encoded({.body = std::string(100'000, 'b'), .message_id = "m"}), 0, {}).empty());
}
