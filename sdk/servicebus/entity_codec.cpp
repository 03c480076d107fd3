// SPDX-License-Identifier: MIT
#include "servicebus/entity_codec.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "amqp/peek_wait.hpp"

namespace sessionq::detail::servicebus {
namespace {

using amqp::Map;
using amqp::Value;

} // namespace

Map scheduled_messages(const std::vector<Message>& messages, const amqp::ClockReading& at) {
    amqp::List entries;
    for (const Message& message : messages) {
        Map entry{{"message-id", message.message_id},
                  {"message", Value::binary(amqp::encode_message(message, at))}};
        if (message.session_id) {
            entry.emplace_back("session-id", *message.session_id);
        }
        entries.push_back(Value{std::move(entry)});
    }
    return {{"messages", std::move(entries)}};
}

core::Result<std::vector<std::int64_t>> read_sequence_numbers(const Response& response,
                                                              std::size_t count,
                                                              const std::string& entity) {
    if (!response.is_success()) {
        return response.to_failure("'" + entity + "' rejected the scheduled messages");
    }
    std::vector<std::int64_t> numbers;
    for (const Value& each : response.items("sequence-numbers")) {
        numbers.push_back(each.integer().value_or(0));
    }
    numbers.resize(count, 0);
    return numbers;
}

core::Result<core::Done> read_cancellation(const Response& response) {
    if (response.is_success()) {
        return core::Done{};
    }
    return response.to_failure("a scheduled message was not cancelled", Errc::message_not_found);
}

void offer_wait(Request& request, std::string_view open_properties) {
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(request.wait).count();
    if (wait <= 0) {
        return;
    }
    const auto properties = amqp::decode(open_properties);
    const Value* offered = properties ? properties->find(amqp::peek_wait) : nullptr;
    if (offered != nullptr && *offered == Value{true}) {
        static const std::string name{amqp::peek_wait};
        request.properties.emplace_back(
            name, static_cast<std::uint32_t>(std::min<std::int64_t>(wait, 0xffffffff)));
    }
}

core::Result<std::vector<ReceivedMessage>> read_peeked(const Response& response,
                                                       const amqp::ClockReading& at,
                                                       const std::string& entity) {
    std::vector<ReceivedMessage> messages;
    if (response.status == 204 || response.condition == "com.microsoft:message-not-found") {
        return messages;
    }
    if (!response.is_success()) {
        return response.to_failure("cannot peek '" + entity + "'");
    }
    const amqp::List* const items = response.find_items("messages");
    if (items == nullptr) {
        return answer_without("messages", "cannot peek '" + entity + "'");
    }
    for (const Value& each : *items) {
        const auto bytes = bytes_of(each, "message");
        if (!bytes) {
            return answer_without("message", "cannot peek '" + entity + "'");
        }
        auto received = amqp::decode_delivery(*bytes, at);
        if (!received.ok()) {
            return received.failure();
        }
        messages.emplace_back(std::move(received.value().content),
                              std::move(received.value().facts));
    }
    return messages;
}

core::Result<std::vector<std::string>> read_session_ids(const Response& response,
                                                        const std::string& entity) {
    if (!response.is_success()) {
        return response.to_failure("cannot list the sessions of '" + entity + "'");
    }
    std::vector<std::string> sessions;
    if (response.status != 204 && response.find_items("sessions-ids") == nullptr) {
        return answer_without("sessions-ids", "cannot list the sessions of '" + entity + "'");
    }
    for (const Value& each : response.items("sessions-ids")) {
        sessions.emplace_back(each.text().value_or(""));
    }
    return sessions;
}

Map deletion(const ports::DeleteMessagesRequest& request, amqp::Timestamp before) {
    Map body{
        {"message-count", static_cast<std::int32_t>(std::min(request.max_messages, 0x7fffffffU))},
        {"enqueued-time-utc", before}};
    if (request.session_id) {
        body.emplace_back("session-id", *request.session_id);
    }
    return body;
}

core::Result<ports::DeletedMessages> read_deleted(const Response& response, WallTime before,
                                                  const std::string& entity) {
    const std::string what = "cannot delete messages of '" + entity + "'";
    if (!response.is_success()) {
        return response.to_failure(what);
    }
    ports::DeletedMessages deleted{.enqueued_before = before};
    if (response.status == 202 || response.status == 204) {
        return deleted;
    }
    const Value* const found = response.body.find("message-count");
    const auto count = found != nullptr ? found->integer() : std::nullopt;
    if (!count || *count < 0 || *count > std::numeric_limits<std::uint32_t>::max()) {
        return answer_without("message-count", what);
    }
    deleted.count = static_cast<std::uint32_t>(*count);
    return deleted;
}

} // namespace sessionq::detail::servicebus
