#include "server/transfer.hpp"

#include "amqp/codec/batch.hpp"
#include "amqp/codec/encoded_content.hpp"

namespace sessionq::server {

core::Result<std::vector<MessageContentPtr>> decode_transfer(std::string encoded, std::uint32_t message_format, broker::Instant now) {
    const amqp::ClockReading at{.now = now.now, .wall = now.wall};
    std::vector<MessageContentPtr> messages;
    if (message_format == 0) {
        auto content = amqp::EncodedContent::make(std::move(encoded), at);
        if (!content) {
            return content.failure();
        }
        messages.push_back(std::move(content).value());
        return messages;
    }
    if (message_format != amqp::batch_format) {
        return Failure{.code = Errc::not_supported, .detail = "the message format " + std::to_string(message_format)};
    }
    const auto parts = amqp::split_batch(encoded);
    if (!parts) {
        return Failure{.code = Errc::protocol_error, .detail = "the transfer is no batch of messages"};
    }
    for (const std::string_view part : *parts) {
        auto content = amqp::EncodedContent::make(std::string{part}, at);
        if (!content) {
            return content.failure();
        }
        messages.push_back(std::move(content).value());
    }
    return messages;
}

} // namespace sessionq::server
