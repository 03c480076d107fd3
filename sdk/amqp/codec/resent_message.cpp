// SPDX-License-Identifier: MIT
#include "amqp/codec/resent_message.hpp"

#include <algorithm>
#include <array>

#include "amqp/codec/delivery_codec.hpp"

namespace sessionq::amqp {
namespace {

void write_header(const EncodedContent& received, std::string& to) {
    const std::string_view header = received.sections().header;
    if (received.header().delivery_count == 0) {
        to.append(header);
        return;
    }
    constexpr std::uint32_t before_count = 4;
    std::array<std::string_view, before_count> fields{};
    visit_fields(header, before_count + 1, [&](std::uint32_t index, std::string_view field) {
        if (index < before_count) {
            fields[index] = field;
        }
    });
    Encoder encoder{to};
    encoder.write_descriptor(section::header);
    const std::size_t begun = encoder.begin_list();
    for (const std::string_view field : fields) {
        field.empty() ? encoder.write_null() : encoder.put_raw(field);
    }
    encoder.end_list(begun, before_count);
}

/// Leaves the section out if nothing of it is left.
void write_annotations(std::uint64_t code, std::string_view annotations, std::string& to) {
    bool is_changed = false;
    visit_entries(annotations, [&](std::string_view name, std::string_view /*value*/) {
        is_changed = is_changed || is_set_by_brokers(name);
    });
    if (!is_changed) {
        to.append(annotations);
        return;
    }
    const std::size_t start = to.size();
    Encoder encoder{to};
    encoder.write_descriptor(code);
    const std::size_t begun = encoder.begin_map();
    const std::uint32_t count = copy_entries(annotations, encoder, is_set_by_brokers);
    encoder.end_map(begun, count);
    if (count == 0) {
        to.resize(start);
    }
}

void write_properties(const EncodedContent& received, std::string_view message_id, WallTime now,
                      std::string& to) {
    MessageProperties properties = received.properties();
    std::string created;
    std::string expires;
    if (!properties.encoded[MessageProperties::absolute_expiry_time].empty()) {
        if (const auto time_to_live = received.time_to_live()) {
            created = encode(Timestamp::of(now));
            expires = encode(Timestamp::later(now, *time_to_live));
            properties.encoded[MessageProperties::creation_time] = created;
        }
        properties.encoded[MessageProperties::absolute_expiry_time] = expires;
    }
    properties.encoded[MessageProperties::message_id] = message_id;
    properties.write(to);
}

void write_application_properties(const EncodedContent& received, const ResentChanges& changes,
                                  std::string& to) {
    const auto is_changed = [&changes](std::string_view name) {
        return name == time_left_property || is_dead_letter_name(name) ||
               std::ranges::any_of(changes.properties,
                                   [name](const auto& each) { return each.first == name; });
    };
    Encoder encoder{to};
    encoder.write_descriptor(section::application_properties);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count =
        copy_entries(received.sections().application_properties, encoder, is_changed);
    for (const auto& [name, value] : changes.properties) {
        encoder.write_string(name);
        encoder.put_raw(value);
        count += 2;
    }
    encoder.end_map(begun, count);
}

} // namespace

core::Result<std::string> encode_resent(const EncodedContent& received,
                                        const ResentChanges& changes, WallTime now) {
    const MessageSections& sections = received.sections();
    for (const std::string_view map : {sections.delivery_annotations, sections.message_annotations,
                                       sections.application_properties}) {
        if (!visit_encoded_entries(map, [](const EncodedEntry&) {})) {
            return Failure{.code = Errc::protocol_error,
                           .detail = "the message cannot be sent again: its annotations or "
                                     "application properties are malformed"};
        }
    }
    std::string encoded;
    encoded.reserve(received.encoded().size() + 256);
    write_header(received, encoded);
    write_annotations(section::delivery_annotations, sections.delivery_annotations, encoded);
    write_annotations(section::message_annotations, sections.message_annotations, encoded);
    write_properties(received, changes.message_id, now, encoded);
    write_application_properties(received, changes, encoded);
    encoded.append(sections.body);
    encoded.append(sections.footer);
    return encoded;
}

} // namespace sessionq::amqp
