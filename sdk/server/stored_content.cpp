// SPDX-License-Identifier: MIT
#include "server/stored_content.hpp"

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "server/stored_rules.hpp"

namespace sessionq::server {

std::string_view StoredContent::encode(const MessageContent& content, WallTime enqueued,
                                       std::string& scratch) const {
    if (const auto* encoded = dynamic_cast<const amqp::EncodedContent*>(&content)) {
        return encoded->encoded();
    }
    scratch = amqp::encode_content(content, amqp::reading_at(enqueued, at_));
    return scratch;
}

core::Result<MessageContentPtr> StoredContent::decode(std::string_view bytes,
                                                      WallTime enqueued) const {
    auto made = amqp::EncodedContent::make(bytes, amqp::reading_at(enqueued, at_));
    if (!made) {
        return made.failure();
    }
    return MessageContentPtr{std::move(made).value()};
}

std::string StoredContent::encode_rules(const std::vector<Rule>& rules) const {
    return amqp::encode(to_stored(rules));
}

core::Result<std::vector<Rule>> StoredContent::decode_rules(std::string_view bytes) const {
    const auto value = amqp::decode(bytes);
    auto rules = value ? read_stored(*value) : std::nullopt;
    if (!rules) {
        return Failure{.code = Errc::protocol_error,
                       .detail = "the stored bytes are not a list of rules"};
    }
    return *std::move(rules);
}

} // namespace sessionq::server
