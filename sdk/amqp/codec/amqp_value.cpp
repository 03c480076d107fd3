// SPDX-License-Identifier: MIT
#include "amqp/codec/amqp_value.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"

namespace sessionq::amqp {
namespace {

AmqpValue to_amqp_value(const Value& value);

AmqpList to_amqp_list(const List& list) {
    AmqpList made;
    made.reserve(list.size());
    for (const Value& item : list) {
        made.push_back(to_amqp_value(item));
    }
    return made;
}

AmqpValue to_amqp_value(const Value& value) {
    if (const auto* list = value.as<List>()) {
        return to_amqp_list(*list);
    }
    if (const auto* map = value.as<Map>()) {
        AmqpMap made;
        made.reserve(map->size());
        for (const auto& [key, mapped] : *map) {
            made.emplace_back(to_amqp_value(key), to_amqp_value(mapped));
        }
        return made;
    }
    return to_property(value);
}

void write_map(const AmqpMap& map, Encoder& encoder) {
    const std::size_t begun = encoder.begin_map();
    for (const auto& [key, mapped] : map) {
        write_value(key, encoder);
        write_value(mapped, encoder);
    }
    encoder.end_map(begun, static_cast<std::uint32_t>(2 * map.size()));
}

/// Nothing if it cannot be decoded.
std::optional<AmqpValue> value_in(const MessageSections& sections) {
    Decoder decoder{sections.body};
    static_cast<void>(decoder.read_descriptor());
    return AmqpValue::decode(decoder.rest());
}

/// Nothing if a section is not a list that can be decoded.
std::optional<AmqpList> sequence_in(const MessageSections& sections) {
    AmqpList joined;
    Decoder decoder{sections.body};
    while (!decoder.at_end()) {
        const auto section = decoder.read_descriptor() ? decoder.read() : std::nullopt;
        const auto* const list = section ? section->as<List>() : nullptr;
        if (list == nullptr) {
            return std::nullopt;
        }
        AmqpList items = to_amqp_list(*list);
        joined.insert(joined.end(), std::make_move_iterator(items.begin()),
                      std::make_move_iterator(items.end()));
    }
    return joined;
}

} // namespace

void write_list(const AmqpList& list, Encoder& encoder) {
    const std::size_t begun = encoder.begin_list();
    for (const AmqpValue& item : list) {
        write_value(item, encoder);
    }
    encoder.end_list(begun, static_cast<std::uint32_t>(list.size()));
}

void write_value(const AmqpValue& value, Encoder& encoder) {
    if (const AmqpList* const list = value.list()) {
        write_list(*list, encoder);
    } else if (const AmqpMap* const map = value.map()) {
        write_map(*map, encoder);
    } else {
        write_property(*value.scalar(), encoder);
    }
}

void read_body(const MessageSections& sections, std::string_view bytes, Message& into) {
    if (sections.body_kind == BodyKind::value) {
        into.value = value_in(sections);
    } else if (sections.body_kind == BodyKind::sequence) {
        into.sequence = sequence_in(sections);
    }
    if (!into.value && !into.sequence) {
        into.body = bytes;
    }
}

} // namespace sessionq::amqp

namespace sessionq::inline v1 {

std::string AmqpValue::encoded() const {
    std::string bytes;
    amqp::Encoder encoder{bytes};
    amqp::write_value(*this, encoder);
    return bytes;
}

std::optional<AmqpValue> AmqpValue::decode(std::string_view encoded) {
    const auto value = amqp::decode(encoded);
    return value ? std::optional{amqp::to_amqp_value(*value)} : std::nullopt;
}

std::string AmqpValue::to_string() const {
    return amqp::decode(encoded()).value_or(amqp::Value{"nested too deep"}).to_string();
}

} // namespace sessionq::inline v1
