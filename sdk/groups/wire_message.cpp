// SPDX-License-Identifier: MIT
#include "groups/wire_message.hpp"

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"

namespace sessionq::groups {
namespace {

void write_annotations(std::string_view section, std::string_view delivery_time, WallTime when,
                       std::string& to) {
    amqp::Encoder encoder{to};
    encoder.write_descriptor(amqp::section::message_annotations);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count = 2;
    amqp::visit_entries(section, [&](std::string_view name, std::string_view value) {
        encoder.write_symbol(name);
        encoder.put_raw(value);
        count += 2;
    });
    encoder.write_symbol(delivery_time);
    encoder.write_long(amqp::Timestamp::of(when).milliseconds);
    encoder.end_map(begun, count);
}

} // namespace

std::string encode_for_broker(const Message& message, std::string_view delivery_time,
                              const amqp::ClockReading& at) {
    const std::string plain = amqp::encode_message(message, at);
    const auto sections = amqp::MessageSections::find(plain).value();
    auto header = amqp::MessageHeader::read(sections.header).value_or(amqp::MessageHeader{});
    header.durable = true;
    std::string made;
    made.reserve(plain.size() + 96);
    header.write(made);
    std::string_view rest = std::string_view{plain}.substr(sections.header.size());
    if (message.scheduled_enqueue_time) {
        write_annotations(sections.message_annotations, delivery_time,
                          *message.scheduled_enqueue_time, made);
        rest.remove_prefix(sections.message_annotations.size());
    }
    return made.append(rest);
}

} // namespace sessionq::groups
