// SPDX-License-Identifier: MIT
#include "server/request.hpp"

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_sections.hpp"
#include "server/fetched_messages.hpp"

namespace sessionq::server {
namespace {

using Field = amqp::MessageProperties::Field;

void write_section(amqp::Encoder& encoder, std::uint64_t code, const amqp::Value& value) {
    encoder.write_descriptor(code);
    encoder.write(value);
}

} // namespace

std::size_t Progress::bytes() const noexcept { return fetched ? fetched->bytes() : 0; }

std::string_view Request::text(std::string_view key) const {
    const amqp::Value* value = properties.find(key);
    return value != nullptr ? value->text().value_or(std::string_view{}) : std::string_view{};
}

std::optional<Request> read_request(std::string_view encoded) {
    Request request{.bytes = encoded.size()};
    amqp::Decoder decoder{encoded};
    while (!decoder.at_end()) {
        const auto code = decoder.read_descriptor();
        auto value = code ? decoder.read(most_request_values) : std::nullopt;
        if (!value) {
            return std::nullopt;
        }
        if (*code == amqp::section::properties) {
            if (const auto* fields = value->items()) {
                if (fields->size() > Field::message_id) {
                    request.message_id = (*fields)[Field::message_id];
                }
                if (fields->size() > Field::reply_to) {
                    request.reply_to =
                        (*fields)[Field::reply_to].text().value_or(std::string_view{});
                }
            }
        } else if (*code == amqp::section::application_properties) {
            request.properties = *std::move(value);
        } else if (*code == amqp::section::value) {
            request.body = *std::move(value);
        }
    }
    return request;
}

std::string write_answer(const Answer& answer, const amqp::Value& message_id, AnswerStyle style) {
    const bool is_claims = style == AnswerStyle::claims;
    std::string encoded;
    amqp::Encoder encoder{encoded};
    amqp::List properties(Field::correlation_id + 1);
    properties[Field::correlation_id] = message_id;
    write_section(encoder, amqp::section::properties, properties);
    amqp::Map status{
        {amqp::Value{is_claims ? "status-code" : "statusCode"}, amqp::Value{answer.status}},
        {amqp::Value{is_claims ? "status-description" : "statusDescription"},
         amqp::Value{answer.description}}};
    if (!answer.condition.empty()) {
        status.emplace_back(is_claims ? "error-condition" : "errorCondition",
                            amqp::Value::symbol(answer.condition));
    }
    write_section(encoder, amqp::section::application_properties, status);
    if (answer.encoded_body.empty()) {
        write_section(encoder, amqp::section::value, answer.body);
    } else {
        encoded.reserve(encoded.size() + answer.encoded_body.size() + 16);
        encoder.write_descriptor(amqp::section::value);
        encoder.put_raw(answer.encoded_body);
    }
    return encoded;
}

} // namespace sessionq::server
