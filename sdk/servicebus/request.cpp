// SPDX-License-Identifier: MIT
#include "servicebus/request.hpp"

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_sections.hpp"
#include "servicebus/conditions.hpp"

namespace sessionq::detail::servicebus {
namespace {

using amqp::Value;

/// A page of messages, sessions or rules has a few thousand.
constexpr std::uint32_t most_values = 250'000;

/// The value of `key` or `other`, because brokers spell keys in two ways.
Value property(std::string_view section, std::string_view key, std::string_view other) {
    std::string_view found = amqp::find_entry(section, key);
    found = found.empty() ? amqp::find_entry(section, other) : found;
    return amqp::Decoder{found}.read(1).value_or(Value{}); // a number or a text
}

/// Nothing if it is no value, or would take many times the memory of its bytes.
std::optional<Value> body_of(std::string_view section) {
    if (section.empty()) {
        return Value{};
    }
    const auto whole = amqp::Decoder{section}.read(most_values);
    const amqp::Described* const described = whole ? whole->described() : nullptr;
    return described != nullptr ? std::optional{described->value} : std::nullopt;
}

} // namespace

std::string encode(Request request, const Correspondence& between) {
    std::string encoded;
    amqp::Encoder encoder{encoded};
    request.properties.emplace_back("operation", std::move(request.operation));
    encoder.write(
        Value::described(amqp::section::properties,
                         amqp::List{between.id, Value{}, between.node, Value{}, between.reply_to}));
    encoder.write(
        Value::described(amqp::section::application_properties, std::move(request.properties)));
    encoder.write(Value::described(amqp::section::value, std::move(request.body)));
    return encoded;
}

amqp::Array to_array(const std::vector<std::int64_t>& sequence_numbers) {
    return {.element = 0x81, .items = amqp::List(sequence_numbers.begin(), sequence_numbers.end())};
}

Failure Response::to_failure(std::string what, std::optional<Errc> not_found) const {
    amqp::Condition said{.name = condition, .text = description};
    if (said.empty()) {
        said.name = status == 401 || status == 403 ? "amqp:unauthorized-access"
                    : status == 404                ? "amqp:not-found"
                    : status == 410                ? "com.microsoft:message-lock-lost"
                                                   : "amqp:internal-error";
    }
    Failure why = servicebus::to_failure(said, std::move(what));
    why.code = status == 404 ? not_found.value_or(why.code) : why.code;
    return why;
}

const amqp::List* Response::find_items(std::string_view key) const noexcept {
    const Value* const found = body.find(key);
    return found != nullptr ? found->items() : nullptr;
}

const amqp::List& Response::items(std::string_view key) const noexcept {
    static const amqp::List none;
    const amqp::List* const found = find_items(key);
    return found != nullptr ? *found : none;
}

Failure answer_without(std::string_view key, const std::string& what) {
    return {.code = Errc::protocol_error,
            .detail = what + ": the broker's answer has no '" + std::string{key} + "'"};
}

std::optional<std::string_view> bytes_of(const Value& map, std::string_view key) noexcept {
    const Value* const found = map.find(key);
    return found != nullptr ? found->bytes() : std::nullopt;
}

std::optional<std::pair<std::string, Response>> decode_response(std::string_view encoded) {
    const auto sections = amqp::MessageSections::find(encoded);
    const auto properties =
        sections ? amqp::MessageProperties::read(sections->properties) : std::nullopt;
    if (!properties) {
        return std::nullopt;
    }
    const std::string id = properties->id(amqp::MessageProperties::correlation_id);
    auto body = body_of(sections->body);
    if (!body) {
        return std::pair{id, Response{.status = 500,
                                      .description = "the answer cannot be read",
                                      .condition = "amqp:decode-error"}};
    }
    const std::string_view said = sections->application_properties;
    const auto text = [said](std::string_view key, std::string_view other) {
        return std::string{property(said, key, other).text().value_or("")};
    };
    return std::pair{
        id, Response{.status = property(said, "statusCode", "status-code").integer().value_or(0),
                     .description = text("statusDescription", "status-description"),
                     .condition = text("errorCondition", "error-condition"),
                     .body = *std::move(body)}};
}

} // namespace sessionq::detail::servicebus
