// SPDX-License-Identifier: MIT
#include "server/transfer.hpp"

#include "amqp/codec/batch.hpp"
#include "amqp/codec/encoded_content.hpp"
#include "amqp/codec/encoder.hpp"
#include "core/peer_words.hpp"
#include "core/uuid.hpp"

namespace sessionq::server {
namespace {

using amqp::MessageProperties;

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
    if (!sections) {
        const auto sorted = amqp::in_standard_order(encoded);
        if (!sorted || *sorted == encoded) {
            return encoded; // decoding reports the error
        }
        std::string with_id;
        return made = with_message_id(*sorted, with_id);
    }
    std::string_view known;
    const bool walked =
        amqp::visit_fields(sections->properties, MessageProperties::field_count,
                           [&known](std::uint32_t index, std::string_view field) {
                               known = index == MessageProperties::message_id ? field : known;
                           });
    if (!walked || (!known.empty() && amqp::bytes_in(known) != "")) {
        return encoded; // if it is malformed, decoding reports the error
    }
    MessageProperties properties =
        MessageProperties::read(sections->properties).value_or(MessageProperties{});
    const std::string id = amqp::encode(amqp::Value{make_message_id()});
    properties.encoded[MessageProperties::message_id] = id;
    made.clear();
    made.reserve(encoded.size() + id.size() + 16);
    for (const std::string_view before :
         {sections->header, sections->delivery_annotations, sections->message_annotations}) {
        made += before;
    }
    properties.write(made);
    for (const std::string_view after :
         {sections->application_properties, sections->body, sections->footer}) {
        made += after;
    }
    return made;
}

bool is_binary(std::string_view value) noexcept {
    return value.starts_with('\xa0') || value.starts_with('\xb0');
}

/// The codes become the conditions that Azure Service Bus sends.
std::optional<Failure> find_property_fault(std::string_view application_properties,
                                           const Limits& limits) {
    std::optional<Failure> fault;
    amqp::visit_entries(application_properties, [&](std::string_view name, std::string_view value) {
        if (is_binary(value)) {
            fault = {.code = Errc::message_too_large,
                     .detail = "application property '" + core::peer_words(name) +
                               "': Serialization operation failed due to unsupported type "
                               "System.Byte[]."};
        } else if (value.size() > limits.property_value_bytes) {
            fault = {.code = Errc::internal_error,
                     .detail = "application property '" + core::peer_words(name) + "' has " +
                               std::to_string(value.size()) + " bytes; at most " +
                               std::to_string(limits.property_value_bytes) + " are taken"};
        }
    });
    return fault;
}

/// Also refuses content that no client of ours could decode: its receivers would fail on it for
/// ever.
std::optional<Failure> find_fault(const amqp::EncodedContent& content, const Limits& limits) {
    const amqp::MessageSections& sections = content.sections();
    const std::size_t properties =
        sections.properties.size() + sections.application_properties.size();
    if (properties > limits.property_bytes) {
        return Failure{.code = Errc::message_too_large,
                       .detail = "the properties of a message may have at most " +
                                 std::to_string(limits.property_bytes) + " bytes; they have " +
                                 std::to_string(properties)};
    }
    if (auto unreadable = content.find_unreadable()) {
        return unreadable;
    }
    const auto partition_key = amqp::bytes_in(
        amqp::find_entry(sections.message_annotations, amqp::partition_key_annotation));
    const auto session_id = content.session_id();
    if (session_id && partition_key && !partition_key->empty() && *partition_key != *session_id) {
        return Failure{.code = Errc::not_supported,
                       .detail = "the PartitionKey '" + core::peer_words(*partition_key) +
                                 "' must be the same as the SessionId '" +
                                 core::peer_words(*session_id) + "'"};
    }
    return find_property_fault(sections.application_properties, limits);
}

core::Result<MessageContentPtr> decode(std::string_view encoded, const amqp::ClockReading& at,
                                       const Limits& limits, std::string& made) {
    auto content = amqp::EncodedContent::make(with_message_id(encoded, made), at);
    if (!content) {
        return content.failure();
    }
    if (auto fault = find_fault(*content.value(), limits)) {
        return *std::move(fault);
    }
    return MessageContentPtr{std::move(content).value()};
}

} // namespace

BatchDecoder::BatchDecoder(std::string_view encoded, const Limits& limits) : limits_{limits} {
    auto parts = amqp::split_batch(encoded, limits.memory.batch / message_bytes + 1);
    memory_ = parts ? parts->size() * message_bytes + encoded.size() : 0;
    if (!parts) {
        failure_ = {.code = Errc::protocol_error,
                    .detail = "the transfer is not a valid batch of messages"};
    } else if (memory_ > limits.memory.batch) {
        memory_ = 0;
        failure_ = {.code = Errc::message_too_large,
                    .detail = "a batch may take at most " + std::to_string(limits.memory.batch) +
                              " bytes, and " + std::to_string(message_bytes) +
                              " count for each message beside its own"};
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
