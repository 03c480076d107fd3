// SPDX-License-Identifier: MIT
#include "server/transfer.hpp"

#include "amqp/codec/batch.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/encoder.hpp"
#include "core/uuid.hpp"

namespace sessionq::server {
namespace {

std::string make_message_id() {
    thread_local core::Random random{core::Uuid::make().low()};
    std::string id = core::Uuid::make(random).to_string();
    std::erase(id, '-');
    return id;
}

// Adds a message id if there is none, because clients rely on one and Service Bus adds it too. The
// other sections stay as they are. `made` holds the new bytes, if any.
std::string_view with_message_id(std::string_view encoded, std::string& made) {
    const auto sections = amqp::MessageSections::find(encoded);
    auto properties = sections ? amqp::MessageProperties::read(sections->properties) : std::nullopt;
    if (!properties || !properties->id(amqp::MessageProperties::message_id).empty()) {
        return encoded; // if it is malformed, decoding reports the error
    }
    const std::string id = amqp::encode(amqp::Value{make_message_id()});
    properties->encoded[amqp::MessageProperties::message_id] = id;
    made.clear();
    made.reserve(encoded.size() + id.size() + 16);
    for (const std::string_view before :
         {sections->header, sections->delivery_annotations, sections->message_annotations}) {
        made += before;
    }
    properties->write(made);
    for (const std::string_view after :
         {sections->application_properties, sections->body, sections->footer}) {
        made += after;
    }
    return made;
}

core::Result<MessageContentPtr> decode(std::string_view encoded, const amqp::ClockReading& at,
                                       const Limits& limits, std::string& made) {
    auto content = amqp::EncodedContent::make(with_message_id(encoded, made), at);
    if (!content) {
        return content.failure();
    }
    const amqp::MessageSections& sections = content.value()->sections();
    const std::size_t properties =
        sections.properties.size() + sections.application_properties.size();
    if (properties > limits.property_bytes) {
        return Failure{.code = Errc::message_too_large,
                       .detail = "the properties of a message may have at most " +
                                 std::to_string(limits.property_bytes) + " bytes; they have " +
                                 std::to_string(properties)};
    }
    return MessageContentPtr{std::move(content).value()};
}

} // namespace

BatchDecoder::BatchDecoder(std::string_view encoded, const Limits& limits) : limits_{limits} {
    auto parts = amqp::split_batch(encoded, limits.items_per_request + 1);
    if (!parts) {
        failure_ = {.code = Errc::protocol_error,
                    .detail = "the transfer is not a valid batch of messages"};
    } else if (parts->size() > limits.items_per_request) {
        failure_ = {.code = Errc::message_too_large,
                    .detail = "a batch may have at most " +
                              std::to_string(limits.items_per_request) + " messages"};
    } else {
        parts_ = *std::move(parts);
        decoded_.reserve(parts_.size());
    }
}

bool BatchDecoder::decode(std::size_t count, broker::Instant now) {
    const amqp::ClockReading at{.now = now.now, .wall = now.wall};
    for (; count != 0 && left() != 0 && !failure_; --count) {
        auto content = server::decode(parts_[decoded_.size()], at, limits_, made_);
        if (content) {
            decoded_.push_back(std::move(content).value());
        } else {
            failure_ = content.failure();
        }
    }
    return left() == 0 || failure_;
}

core::Result<std::vector<MessageContentPtr>> BatchDecoder::take() && {
    if (failure_) {
        return *std::move(failure_);
    }
    return std::move(decoded_);
}

core::Result<MessageContentPtr> decode_message(std::string_view encoded, broker::Instant now,
                                               const Limits& limits) {
    std::string made;
    return decode(encoded, {.now = now.now, .wall = now.wall}, limits, made);
}

} // namespace sessionq::server
