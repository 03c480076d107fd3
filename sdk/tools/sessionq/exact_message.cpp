// SPDX-License-Identifier: MIT
#include "tools/sessionq/exact_message.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "amqp/base64.hpp"
#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "core/byte_order.hpp"
#include "tools/nearest_word.hpp"
#include "tools/sessionq/property_json.hpp"
#include "tools/sessionq/record_error.hpp"

namespace sessionq::cli {
namespace {

using amqp::MessageProperties;
using amqp::MessageSections;

struct SectionName {
    const char* name;
    std::string_view MessageSections::*place;
};

/// In the standard's order.
constexpr std::array names{
    SectionName{"header", &MessageSections::header},
    SectionName{"delivery_annotations", &MessageSections::delivery_annotations},
    SectionName{"message_annotations", &MessageSections::message_annotations},
    SectionName{"properties", &MessageSections::properties},
    SectionName{"application_properties", &MessageSections::application_properties},
    SectionName{"body", &MessageSections::body},
    SectionName{"footer", &MessageSections::footer},
};

/// The bytes of all sections, each by its place in `names`.
using Sections = std::array<std::string, names.size()>;

Sections sections_of(const MessageSections& views) {
    Sections sections;
    for (std::size_t i = 0; i < names.size(); ++i) {
        sections[i] = views.*names[i].place;
    }
    return sections;
}

Sections encoded(const Message& message, const amqp::ClockReading& at) {
    return sections_of(amqp::MessageSections::find(amqp::encode_message(message, at)).value());
}

std::string joined(const Sections& sections) {
    std::string made;
    for (const std::string& section : sections) {
        made += section;
    }
    return made;
}

std::string& section(Sections& sections, std::string_view MessageSections::*place) {
    const auto* const found = std::ranges::find(names, place, &SectionName::place);
    return sections[static_cast<std::size_t>(found - names.begin())];
}

/// The header without its delivery count, which belongs to the delivery.
std::string sendable_header(const amqp::EncodedContent& content) {
    amqp::MessageHeader header = content.header();
    if (header.delivery_count == 0) {
        return std::string{content.sections().header};
    }
    header.delivery_count = 0;
    std::string made;
    header.write(made);
    return made;
}

template <typename IsDropped>
std::string without(std::uint64_t code, std::string_view map, IsDropped is_dropped) {
    bool is_changed = false;
    amqp::visit_entries(map, [&](std::string_view name, std::string_view /*value*/) {
        is_changed = is_changed || is_dropped(name);
    });
    if (!is_changed) {
        return std::string{map};
    }
    std::string made;
    amqp::Encoder encoder{made};
    encoder.write_descriptor(code);
    const std::size_t begun = encoder.begin_map();
    const std::uint32_t count = amqp::copy_entries(map, encoder, is_dropped);
    encoder.end_map(begun, count);
    return count == 0 ? std::string{} : made;
}

/// Lets a time to live begin anew. A broker drops a message whose expiry has passed.
std::string renewed_properties(const amqp::EncodedContent& content, WallTime now) {
    MessageProperties properties = content.properties();
    const auto time_to_live = content.time_to_live();
    if (!time_to_live || properties.encoded[MessageProperties::absolute_expiry_time].empty()) {
        return std::string{content.sections().properties};
    }
    const std::string expires = amqp::encode(amqp::Timestamp::later(now, *time_to_live));
    const std::string created = amqp::encode(amqp::Timestamp::of(now));
    properties.encoded[MessageProperties::absolute_expiry_time] = expires;
    properties.encoded[MessageProperties::creation_time] = created;
    std::string made;
    properties.write(made);
    return made;
}

/// All but the body, which may be large and is never changed.
Sections sendable_beside_body(const amqp::EncodedContent& content, WallTime now) {
    MessageSections views = content.sections();
    views.body = {};
    Sections sections = sections_of(views);
    section(sections, &MessageSections::header) = sendable_header(content);
    section(sections, &MessageSections::delivery_annotations) = without(
        amqp::section::delivery_annotations, views.delivery_annotations, amqp::is_set_by_brokers);
    section(sections, &MessageSections::message_annotations) = without(
        amqp::section::message_annotations, views.message_annotations, amqp::is_set_by_brokers);
    section(sections, &MessageSections::properties) = renewed_properties(content, now);
    section(sections, &MessageSections::application_properties) =
        without(amqp::section::application_properties, views.application_properties,
                [](std::string_view name) { return name == amqp::time_left_property; });
    return sections;
}

Sections sendable(const amqp::EncodedContent& content, WallTime now) {
    Sections sections = sendable_beside_body(content, now);
    section(sections, &MessageSections::body) = content.sections().body;
    return sections;
}

/// Whether a body is one data section with these bytes, as a message of its own would have it.
bool is_plain_data(std::string_view body, std::string_view bytes) {
    const std::string empty = amqp::encode_message({}, {});
    const std::string_view none = amqp::MessageSections::find(empty).value().body;
    std::string head{none.substr(0, none.size() - 2)}; // less its code and its size
    constexpr std::size_t longest_short = 255;
    if (bytes.size() <= longest_short) {
        head += '\xa0';
        head += static_cast<char>(bytes.size());
    } else {
        std::array<char, 4> size{};
        core::put_number<4>(size.data(), bytes.size());
        head += '\xb0';
        head.append(size.data(), size.size());
    }
    return body.size() == head.size() + bytes.size() && body.starts_with(head) &&
           body.ends_with(bytes);
}

/// Brokers write a header anew for each delivery, so only its fields count and not its bytes.
bool say_the_same(std::string_view one_header, std::string_view other_header) {
    const auto one = amqp::MessageHeader::read(one_header);
    const auto other = amqp::MessageHeader::read(other_header);
    const auto fields = [](const amqp::MessageHeader& header) {
        return std::tie(header.durable, header.priority, header.time_to_live,
                        header.first_acquirer);
    };
    return one && other && fields(*one) == fields(*other);
}

constexpr std::pair<TextField, std::string Message::*> texts[] = {
    {TextField::content_type, &Message::content_type},
    {TextField::correlation_id, &Message::correlation_id},
    {TextField::message_id, &Message::message_id},
    {TextField::reply_to, &Message::reply_to},
    {TextField::reply_to_session_id, &Message::reply_to_session_id},
    {TextField::subject, &Message::subject},
    {TextField::to, &Message::to},
};

/// The changes of properties from one message to another.
ContentChanges changes_of(const Message& from, const Message& to) {
    ContentChanges changes;
    for (const auto& [field, member] : texts) {
        if (const std::string& text = to.*member; from.*member != text) {
            changes.texts.emplace_back(field, text.empty() ? std::nullopt : std::optional{text});
        }
    }
    if (from.session_id != to.session_id) {
        changes.texts.emplace_back(TextField::session_id, to.session_id);
    }
    for (const auto& [name, value] : to.properties) {
        const auto old = from.properties.find(name);
        if (old == from.properties.end() || json_of(old->second) != json_of(value)) {
            changes.properties.insert_or_assign(name, value);
        }
    }
    for (const auto& [name, value] : from.properties) {
        if (!to.properties.contains(name)) {
            changes.removed.push_back(name);
        }
    }
    return changes;
}

bool is_empty(const ContentChanges& changes) {
    return changes.texts.empty() && changes.properties.empty() && changes.removed.empty();
}

/// Throws RecordError if the bytes are no message.
std::shared_ptr<const amqp::EncodedContent> content_of(const Sections& sections,
                                                       const amqp::ClockReading& at) {
    auto made = amqp::EncodedContent::make(joined(sections), at);
    if (!made.ok()) {
        throw RecordError{"encoded: " + made.failure().detail};
    }
    return std::move(made).value();
}

} // namespace

Json exact_sections(const MessageContent& content, const Message& members, std::string_view body) {
    const amqp::ClockReading at{}; // the times to live begin anew when it is sent
    const auto* const received = dynamic_cast<const amqp::EncodedContent*>(&content);
    if (received == nullptr) {
        return nullptr;
    }
    const Sections exact = sendable_beside_body(*received, at.wall);
    const Sections made = sendable_beside_body(*content_of(encoded(members, at), at), at.wall);
    Json json;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const bool is_header = names[i].place == &MessageSections::header;
        const bool is_body = names[i].place == &MessageSections::body;
        if (is_body) {
            if (const std::string_view whole = received->sections().body;
                !is_plain_data(whole, body)) {
                json[names[i].name] = amqp::base64(whole);
            }
        } else if (exact[i] != made[i] && !(is_header && say_the_same(exact[i], made[i]))) {
            json[names[i].name] = amqp::base64(exact[i]);
        }
    }
    return json;
}

MessageContentPtr with_exact_sections(const Message& members, const Json& json,
                                      const amqp::ClockReading& at) {
    if (!json.is_object()) {
        throw RecordError{"encoded: is not an object"};
    }
    Sections made = encoded(members, at);
    Sections sections = made;
    for (const auto& [name, value] : json.items()) {
        const auto* const found = std::ranges::find_if(
            names, [&name](const SectionName& each) { return name == each.name; });
        if (found == names.end()) {
            throw RecordError{"encoded: unknown section '" + name + "'"};
        }
        sections[static_cast<std::size_t>(found - names.begin())] =
            read_base64("encoded." + name, value);
    }
    const auto exact = content_of(sections, at);
    const auto said = exact->outline();
    if (!said) {
        throw RecordError{"encoded: the message cannot be decoded"};
    }
    const ContentChanges changes = changes_of(*said, members);
    const auto changed = is_empty(changes) ? exact : exact->with_changes(changes);
    sections = sections_of(dynamic_cast<const amqp::EncodedContent&>(*changed).sections());
    if (said->priority != members.priority || said->time_to_live != members.time_to_live) {
        amqp::MessageHeader header = exact->header();
        const auto wanted = amqp::MessageHeader::read(section(made, &MessageSections::header));
        header.priority = wanted->priority;
        header.time_to_live = wanted->time_to_live;
        header.write(section(sections, &MessageSections::header).erase());
    }
    if (said->scheduled_enqueue_time != members.scheduled_enqueue_time ||
        said->partition_key != members.partition_key) {
        section(sections, &MessageSections::message_annotations) =
            section(made, &MessageSections::message_annotations);
    }
    if (exact->body() != members.body) {
        section(sections, &MessageSections::body) = section(made, &MessageSections::body);
    }
    return content_of(sendable(*content_of(sections, at), at.wall), at);
}

} // namespace sessionq::cli
