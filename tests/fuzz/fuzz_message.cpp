// SPDX-License-Identifier: MIT
// Messages from outside. A message that a broker accepts can be read in each way, changed and
// delivered, and stays valid.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <sessionq/error.hpp>
#include <sessionq/received_message.hpp>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/message_codec.hpp"

using namespace sessionq;

namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// Returns true if the whole message can be decoded.
bool is_readable(const MessageContent& content) {
    try {
        const Message& message = content.message();
        const bool is_typed = message.value.has_value() || message.sequence.has_value();
        return message.body == (is_typed ? std::string_view{} : content.body());
    } catch (const Error& error) {
        require(error.code() == Errc::protocol_error);
        return false;
    }
}

/// What nothing was found wrong with is read in each way.
void read_in_each_way(const amqp::EncodedContent& content) {
    require(content.outline().has_value() && is_readable(content));
    for (const auto& [name, value] : content.message().properties) {
        require(content.property(name).has_value());
    }
    for (const auto& [name, value] : content.annotations()) {
        require(content.annotation(name).has_value());
    }
    const ReceivedMessage received{std::make_shared<const DecodedContent>(content.message()), {}};
    static_cast<void>(received.copy());
    for (const TextField field :
         {TextField::content_type, TextField::correlation_id, TextField::message_id,
          TextField::reply_to, TextField::reply_to_session_id, TextField::session_id,
          TextField::subject, TextField::to}) {
        require(content.text(field) == content.MessageContent::text(field));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const amqp::ClockReading at{.now = TimePoint{std::chrono::hours{1}},
                                .wall = WallTime{std::chrono::milliseconds{1'700'000'000'000}}};
    auto received = amqp::decode_delivery({reinterpret_cast<const char*>(data), size}, at);
    if (!received) {
        return 0;
    }
    const amqp::EncodedContent& content = *received.value().content;
    static_cast<void>(content.time_to_live());
    static_cast<void>(content.scheduled_enqueue_time());
    const bool readable = is_readable(content);
    if (!content.find_unreadable()) {
        read_in_each_way(content);
    }
    const ReceivedMessage message{received.value().content, received.value().facts};
    if (const auto trace = message.trace()) {
        require(TraceContext::parse(trace->traceparent, trace->tracestate) == trace);
    }

    const auto changed = content.with_properties({{"k", std::int64_t{1}}});
    require(changed->body() == content.body() && changed->message_id() == content.message_id() &&
            changed->session_id() == content.session_id());
    require(!readable || is_readable(*changed));

    const auto delivered = amqp::decode_delivery(
        amqp::encode_delivery(content, {.facts = received.value().facts}, at), at);
    require(delivered.ok());
    const amqp::EncodedContent& back = *delivered.value().content;
    require(back.body() == content.body() && back.message_id() == content.message_id() &&
            back.session_id() == content.session_id());
    require(delivered.value().facts.sequence_number == received.value().facts.sequence_number);
    require(!readable || is_readable(back));
    require(content.find_unreadable() || !back.find_unreadable());
    if (readable) { // a decoded message can be sent
        require(amqp::EncodedContent::make(amqp::encode_message(content.message(), at), at).ok());
    }
    return 0;
}
