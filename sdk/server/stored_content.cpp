#include "server/stored_content.hpp"

#include "amqp/codec/message_codec.hpp"

namespace sessionq::server {

std::string_view StoredContent::encode(const MessageContent& content, std::string& scratch) const {
    if (const auto* encoded = dynamic_cast<const amqp::EncodedContent*>(&content)) {
        return encoded->encoded();
    }
    scratch = amqp::encode_content(content, at_);
    return scratch;
}

core::Result<MessageContentPtr> StoredContent::decode(std::string bytes) const {
    auto made = amqp::EncodedContent::make(std::move(bytes), at_);
    if (!made) {
        return made.failure();
    }
    return MessageContentPtr{std::move(made).value()};
}

} // namespace sessionq::server
