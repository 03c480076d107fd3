// SPDX-License-Identifier: MIT
#include "client/redrive/redrive_mark.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include <openssl/evp.h>

#include <sessionq/error.hpp>
#include <sessionq/redrive.hpp>

#include "amqp/base64.hpp"
#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/resent_message.hpp"
#include "core/uuid.hpp"

namespace sessionq::detail::client {
namespace {

/// A UUID of version 8 made from a name with SHA-256, as in RFC 9562, B.2.
core::Uuid named_id(std::string_view name) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(name.data(), name.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
        throw Error{Errc::resource_exhausted, "SHA-256 is not available"};
    }
    core::Uuid id;
    std::ranges::transform(digest.begin(), digest.begin() + id.bytes.size(), id.bytes.begin(),
                           [](unsigned char byte) { return std::byte{byte}; });
    id.bytes[6] = (id.bytes[6] & std::byte{0x0f}) | std::byte{0x80};
    id.bytes[8] = (id.bytes[8] & std::byte{0x3f}) | std::byte{0x80};
    return id;
}

/// The id in the type that the message's own id has.
amqp::Value typed_like(const std::optional<amqp::Value>& own, const core::Uuid& id) {
    if (own && own->as<core::Uuid>() != nullptr) {
        return id;
    }
    if (own && own->as<std::uint64_t>() != nullptr) {
        constexpr unsigned to_53_bits = 11; // JavaScript's numbers hold no more
        return id.low() << to_53_bits >> to_53_bits;
    }
    if (own && own->as<amqp::Binary>() != nullptr) {
        return amqp::Value::binary(id.to_string());
    }
    return id.to_string();
}

/// The message's own id as a property. Azure Service Bus refuses bytes there.
amqp::Value kept_id(const std::optional<amqp::Value>& own) {
    const auto* const bytes = own ? own->as<amqp::Binary>() : nullptr;
    return bytes != nullptr ? amqp::Value{amqp::base64(bytes->bytes)}
                            : own.value_or(amqp::Value{""});
}

/// The copy of a letter that never had AMQP's form.
MessageContentPtr copy_of(const Message& letter, std::string_view source, std::int64_t number,
                          const core::Uuid& id) {
    Message copy = letter;
    copy.message_id = id.to_string();
    copy.deadline = {};
    copy.properties.erase(std::string{amqp::dead_letter_reason});
    copy.properties.erase(std::string{amqp::dead_letter_description});
    copy.properties.insert_or_assign(std::string{redrive_source_property}, std::string{source});
    copy.properties.insert_or_assign(std::string{redrive_number_property}, number);
    copy.properties.try_emplace(std::string{redrive_message_id_property}, letter.message_id);
    return std::make_shared<const DecodedContent>(std::move(copy));
}

MessageContentPtr copy_of(const amqp::EncodedContent& letter, std::string_view source,
                          std::int64_t number, const core::Uuid& id, const amqp::ClockReading& at) {
    const auto own = letter.properties().value(amqp::MessageProperties::message_id);
    amqp::ResentChanges changes{
        .message_id = amqp::encode(typed_like(own, id)),
        .properties = {{redrive_source_property, amqp::encode(amqp::Value{source})},
                       {redrive_number_property, amqp::encode(amqp::Value{number})}}};
    const std::string_view properties = letter.sections().application_properties;
    if (amqp::find_entry(properties, redrive_message_id_property).empty()) {
        changes.properties.emplace_back(redrive_message_id_property, amqp::encode(kept_id(own)));
    }
    const auto encoded = amqp::encode_resent(letter, changes, at.wall);
    if (!encoded) {
        throw Error{encoded.failure()};
    }
    auto copy = amqp::EncodedContent::make(encoded.value(), at);
    return std::move(copy).take_or_throw();
}

} // namespace

MessageContentPtr redriven_copy(const ReceivedMessage& letter, std::string_view source,
                                const amqp::ClockReading& at) {
    const std::int64_t number = letter.sequence_number();
    const core::Uuid id = named_id(std::string{source} + '\n' + std::to_string(number) + '\n' +
                                   std::string{letter.message_id()});
    const auto* const encoded =
        dynamic_cast<const amqp::EncodedContent*>(letter.shared_content().get());
    return encoded != nullptr ? copy_of(*encoded, source, number, id, at)
                              : copy_of(letter.content(), source, number, id);
}

std::optional<std::int64_t> redriven_from(const MessageContent& message, std::string_view source) {
    const auto from = message.property(redrive_source_property);
    const auto* const name = from ? std::get_if<std::string>(&*from) : nullptr;
    if (name == nullptr || *name != source) {
        return std::nullopt;
    }
    const auto number = message.property(redrive_number_property);
    const auto* const value = number ? std::get_if<std::int64_t>(&*number) : nullptr;
    return value == nullptr ? std::nullopt : std::optional{*value};
}

} // namespace sessionq::detail::client
