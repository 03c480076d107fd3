// SPDX-License-Identifier: MIT
#include "amqp/codec/batch.hpp"

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_sections.hpp"

namespace sessionq::amqp {

std::optional<std::vector<std::string_view>> split_batch(std::string_view encoded,
                                                         std::size_t most) {
    const auto sections = MessageSections::find(encoded);
    if (!sections ||
        (sections->body_kind != BodyKind::data && sections->body_kind != BodyKind::several_data)) {
        return std::nullopt;
    }
    std::vector<std::string_view> messages;
    Decoder decoder{sections->body};
    while (messages.size() < most && decoder.read_descriptor()) {
        const auto message = decoder.read_bytes();
        if (!message) {
            return std::nullopt;
        }
        messages.push_back(*message);
    }
    return messages;
}

std::size_t envelope_size(std::string_view encoded_message) noexcept {
    const auto first = MessageSections::find(encoded_message);
    return first ? first->message_annotations.size() + first->properties.size() : 0;
}

std::size_t sent_size(const std::vector<std::string>& encoded_messages) noexcept {
    if (encoded_messages.size() == 1) {
        return encoded_messages.front().size();
    }
    std::size_t size = encoded_messages.empty() ? 0 : envelope_size(encoded_messages.front());
    for (const std::string& message : encoded_messages) {
        size += batched_size(message.size());
    }
    return size;
}

std::string make_batch(const std::vector<std::string>& encoded_messages) {
    std::string batch;
    batch.reserve(sent_size(encoded_messages));
    if (const auto first = encoded_messages.empty()
                               ? std::nullopt
                               : MessageSections::find(encoded_messages.front())) {
        batch.append(first->message_annotations);
        batch.append(first->properties);
    }
    Encoder encoder{batch};
    for (const std::string& message : encoded_messages) {
        encoder.write_descriptor(section::data);
        encoder.write_binary(message);
    }
    return batch;
}

} // namespace sessionq::amqp
