// SPDX-License-Identifier: MIT
#include "client/check.hpp"

#include <cstddef>
#include <string>

#include <sessionq/error.hpp>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "core/id_check.hpp"
#include "core/negative_duration.hpp"
#include "core/text_check.hpp"

namespace sessionq::detail::client {
namespace {

constexpr std::size_t max_entity_characters = 260;

void check_scalar(const PropertyValue& scalar, const std::string& name) {
    const auto* const uri = std::get_if<Uri>(&scalar);
    const auto* const text = uri != nullptr ? &uri->text : std::get_if<std::string>(&scalar);
    require_argument(text == nullptr || core::is_utf8(*text),
                     name + ": a text is not valid UTF-8; send bytes as a std::vector<std::byte>");
    const auto* const encoded = std::get_if<EncodedValue>(&scalar);
    require_argument(encoded == nullptr || amqp::decode(encoded->bytes).has_value(),
                     name + ": the bytes of an EncodedValue are not one encoded value");
}

void check_value(const AmqpValue& value, const std::string& name, int depth);

void check_list(const AmqpList& list, const std::string& name, int depth) {
    for (const AmqpValue& item : list) {
        check_value(item, name, depth + 1);
    }
}

void check_value(const AmqpValue& value, const std::string& name, int depth) {
    require_argument(depth <= amqp::Decoder::deepest,
                     name + ": lists and maps are nested more than 32 deep");
    if (const AmqpList* const list = value.list()) {
        check_list(*list, name, depth);
    } else if (const AmqpMap* const map = value.map()) {
        for (const auto& [key, mapped] : *map) {
            check_value(key, name, depth + 1);
            check_value(mapped, name, depth + 1);
        }
    } else {
        check_scalar(*value.scalar(), name);
    }
}

void check_body(const Message& message) {
    require_argument(!message.value || !message.sequence,
                     "Message::value and Message::sequence are both set");
    if (message.value) {
        require_argument(message.body.empty(), "Message::value and Message::body are both set");
        check_value(*message.value, "Message::value", 0);
    }
    if (message.sequence) {
        require_argument(message.body.empty(), "Message::sequence and Message::body are both set");
        check_list(*message.sequence, "Message::sequence", 0);
    }
}

void check_id(std::string_view id, std::string_view name) {
    if (const std::string_view fault = core::id_fault(id); !fault.empty()) {
        throw Error{Errc::invalid_argument, std::string{name} + " " + std::string{fault}};
    }
}

} // namespace

void require_option(bool in_range, std::string_view complaint) {
    if (!in_range) {
        throw Error{Errc::invalid_option, std::string{complaint}};
    }
}

void require_not_negative(std::string_view member, Duration value) {
    require_option(value >= Duration::zero(),
                   std::string{member} + " " + std::string{core::not_negative});
}

void require_argument(bool usable, std::string_view complaint) {
    if (!usable) {
        throw Error{Errc::invalid_argument, std::string{complaint}};
    }
}

void check_wait(Duration wait) {
    require_argument(wait >= Duration::zero(),
                     "wait must not be negative (Duration::max() is without end)");
}

void check_entity(std::string_view entity) {
    require_argument(!entity.empty(), "entity is empty; name a queue, topic or subscription");
    check_text(entity, "entity");
    require_argument(core::characters(entity) <= max_entity_characters,
                     "entity is longer than 260 characters");
}

void check_text(std::string_view text, std::string_view name) {
    require_argument(core::is_utf8(text), std::string{name} + " is not valid UTF-8");
}

void check_properties(const Properties& properties, std::string_view name) {
    const std::string fault = core::text_fault(properties);
    require_argument(fault.empty(), std::string{name} + fault);
    for (const auto& [property, value] : properties) {
        const auto* const encoded = std::get_if<EncodedValue>(&value);
        require_argument(encoded == nullptr || amqp::decode(encoded->bytes).has_value(),
                         std::string{name} + ": the bytes of '" + property +
                             "' are not one encoded value");
    }
}

void check_session_id(std::string_view id) { check_id(id, "session_id"); }

void check_message(const Message& message) {
    if (message.session_id) {
        check_id(*message.session_id, "Message::session_id");
    }
    check_id(message.message_id, "Message::message_id");
    check_id(message.reply_to_session_id, "Message::reply_to_session_id");
    check_id(message.partition_key, "Message::partition_key");
    check_text(message.subject, "Message::subject");
    check_text(message.correlation_id, "Message::correlation_id");
    check_text(message.reply_to, "Message::reply_to");
    check_text(message.to, "Message::to");
    check_text(message.content_type, "Message::content_type");
    check_properties(message.properties, "Message::properties");
    check_body(message);
    require_argument(message.partition_key.empty() || !message.session_id ||
                         message.partition_key == *message.session_id,
                     "Message::partition_key differs from session_id");
    if (message.time_to_live) {
        require_argument(message.time_to_live->count() > 0,
                         "Message::time_to_live is not positive");
    }
}

} // namespace sessionq::detail::client
