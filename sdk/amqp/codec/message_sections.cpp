// SPDX-License-Identifier: MIT
#include "amqp/codec/message_sections.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "amqp/codec/encoder.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::string_view encoded_null{"\x40", 1};

/// Clamps a number to the type of its field.
template <typename To>
To capped(std::uint64_t number) noexcept {
    return static_cast<To>(std::min<std::uint64_t>(number, std::numeric_limits<To>::max()));
}

} // namespace

std::optional<MessageSections> MessageSections::find(std::string_view encoded) noexcept {
    MessageSections found;
    Decoder decoder{encoded};
    std::uint64_t last = 0;
    while (!decoder.at_end()) {
        const std::size_t start = decoder.position();
        const auto code = decoder.read_descriptor();
        const auto value = code ? decoder.skip() : std::nullopt;
        if (!value || (code == section::data && !Decoder{*value}.read_bytes())) {
            return std::nullopt;
        }
        const std::string_view whole = encoded.substr(start, decoder.position() - start);
        const bool repeats =
            *code == last && (*code == section::data || *code == section::sequence);
        const bool is_second_body = found.body_kind != BodyKind::none && *code >= section::data &&
                                    *code <= section::value && !repeats;
        if ((*code <= last && !repeats) || is_second_body) {
            return std::nullopt;
        }
        last = *code;
        switch (*code) {
        case section::header: found.header = whole; break;
        case section::delivery_annotations: found.delivery_annotations = whole; break;
        case section::message_annotations: found.message_annotations = whole; break;
        case section::properties: found.properties = whole; break;
        case section::application_properties: found.application_properties = whole; break;
        case section::data:
        case section::sequence:
        case section::value:
            found.body_kind = *code == section::data       ? BodyKind::data
                              : *code == section::sequence ? BodyKind::sequence
                                                           : BodyKind::value;
            found.body = found.body.empty() ? whole
                                            : std::string_view{found.body.data(),
                                                               found.body.size() + whole.size()};
            break;
        case section::footer: found.footer = whole; break;
        default: return std::nullopt;
        }
    }
    return found;
}

std::optional<MessageHeader> MessageHeader::read(std::string_view encoded_section) noexcept {
    MessageHeader header;
    const bool walked =
        visit_fields(encoded_section, 5, [&header](std::uint32_t index, std::string_view field) {
            Decoder decoder{field};
            switch (index) {
            case 0: header.durable = decoder.read_boolean().value_or(false); break;
            case 1:
                header.priority =
                    capped<std::uint8_t>(decoder.read_unsigned().value_or(header.priority));
                break;
            case 2:
                if (const auto milliseconds = decoder.read_unsigned()) {
                    header.time_to_live = capped<std::uint32_t>(*milliseconds);
                }
                break;
            case 3: header.first_acquirer = decoder.read_boolean().value_or(false); break;
            default:
                header.delivery_count = capped<std::uint32_t>(decoder.read_unsigned().value_or(0));
                break;
            }
        });
    return walked ? std::optional{header} : std::nullopt;
}

void MessageHeader::write(std::string& to) const {
    // Encoded by hand, because every message has one: descriptor, list, five fields.
    std::array<char, 20> encoded{'\x00',
                                 '\x53',
                                 '\x70',
                                 '\xc0',
                                 '\0',
                                 '\x05',
                                 durable ? '\x41' : '\x42',
                                 '\x50',
                                 static_cast<char>(priority)};
    char* at = encoded.data() + 9;
    *at++ = time_to_live ? '\x70' : '\x40';
    if (time_to_live) {
        core::put_number<4>(at, *time_to_live);
        at += 4;
    }
    *at++ = first_acquirer ? '\x41' : '\x42';
    *at++ = delivery_count != 0 ? '\x70' : '\x43';
    if (delivery_count != 0) {
        core::put_number<4>(at, delivery_count);
        at += 4;
    }
    const auto size = static_cast<std::size_t>(at - encoded.data());
    encoded[4] = static_cast<char>(size - 5);
    to.append(encoded.data(), size);
}

std::optional<MessageProperties> MessageProperties::read(
    std::string_view encoded_section) noexcept {
    MessageProperties properties;
    const bool walked = visit_fields(encoded_section, field_count,
                                     [&properties](std::uint32_t index, std::string_view field) {
                                         properties.encoded[index] = field;
                                     });
    return walked ? std::optional{properties} : std::nullopt;
}

void MessageProperties::write(std::string& out) const {
    Encoder encoder{out};
    encoder.write_descriptor(section::properties);
    const std::size_t begun = encoder.begin_list();
    std::uint32_t count = field_count;
    while (count > 0 && encoded[count - 1].empty()) {
        --count;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        encoder.put_raw(encoded[i].empty() ? encoded_null : encoded[i]);
    }
    encoder.end_list(begun, count);
}

std::optional<std::string_view> MessageProperties::text(Field field) const noexcept {
    return Decoder{encoded[field]}.read_bytes();
}

std::optional<WallTime> MessageProperties::time(Field field) const noexcept {
    const auto milliseconds = Decoder{encoded[field]}.read_integer();
    return milliseconds ? std::optional{Timestamp{*milliseconds}.time()} : std::nullopt;
}

std::string MessageProperties::id(Field field) const {
    if (const auto as_text = text(field)) {
        return std::string{*as_text};
    }
    const auto held = value(field);
    return held ? held->to_string() : std::string{};
}

std::optional<Value> MessageProperties::value(Field field) const {
    return encoded[field].empty() ? std::nullopt : Decoder{encoded[field]}.read();
}

std::string_view find_entry(std::string_view encoded_section, std::string_view key) noexcept {
    std::string_view found;
    visit_entries(encoded_section, [&](std::string_view name, std::string_view value) {
        if (name == key && found.empty()) {
            found = value;
        }
    });
    return found;
}

std::string_view body_bytes(const MessageSections& sections, std::string& joined) {
    Decoder decoder{sections.body};
    if (sections.body_kind == BodyKind::none || !decoder.read_descriptor()) {
        return {};
    }
    if (sections.body_kind != BodyKind::data) {
        const std::string_view whole = decoder.rest();
        const auto text =
            sections.body_kind == BodyKind::value ? decoder.read_bytes() : std::nullopt;
        return text ? *text : whole;
    }
    const std::string_view first = decoder.read_bytes().value_or(std::string_view{});
    if (decoder.at_end()) {
        return first;
    }
    joined.assign(first);
    while (decoder.read_descriptor()) {
        // `find` has checked that it is binary
        joined.append(decoder.read_bytes().value_or(std::string_view{}));
    }
    return joined.empty() ? std::string_view{} : joined;
}

} // namespace sessionq::amqp
