// SPDX-License-Identifier: MIT
#include "amqp/codec/message_sections.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "amqp/codec/encoder.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

struct Place {
    std::string_view MessageSections::*view{nullptr};
    std::uint8_t order{0}; ///< among the sections
    BodyKind kind{BodyKind::none};
};

// By the codes of the sections, from that of the header on.
constexpr std::array places{
    Place{&MessageSections::header, 1},
    Place{&MessageSections::delivery_annotations, 2},
    Place{&MessageSections::message_annotations, 3},
    Place{&MessageSections::properties, 4},
    Place{&MessageSections::application_properties, 5},
    Place{&MessageSections::body, 6, BodyKind::data},
    Place{&MessageSections::body, 6, BodyKind::sequence},
    Place{&MessageSections::body, 6, BodyKind::value},
    Place{&MessageSections::footer, 7},
};

const Place* place_of(std::uint64_t code) noexcept {
    const std::uint64_t index = code - section::header;
    return index < places.size() ? &places[index] : nullptr;
}

std::uint8_t first_byte(std::string_view value) noexcept {
    return static_cast<std::uint8_t>(value.front());
}

/// Reads the fields of a list one after another. One that is absent, null or of another type gives
/// nothing.
class FieldReader {
public:
    explicit FieldReader(const Decoder::Compound& list) noexcept
        : items_{list.items}, left_{list.count} {}

    [[nodiscard]] std::optional<bool> boolean() noexcept {
        return next([](Decoder& items) { return items.read_boolean(); });
    }
    [[nodiscard]] std::optional<std::uint64_t> number() noexcept {
        return next([](Decoder& items) { return items.read_unsigned(); });
    }
    /// All fields are read, and nothing was malformed.
    [[nodiscard]] bool at_end() const noexcept { return left_ == 0 && items_.at_end(); }

private:
    template <typename Read>
    auto next(Read read) noexcept -> decltype(read(std::declval<Decoder&>())) {
        if (left_ == 0) {
            return std::nullopt;
        }
        auto value = read(items_);
        if (value || items_.read_null() || items_.skip()) {
            --left_; // otherwise the items are malformed, and it stays here
        }
        return value;
    }

    Decoder items_;
    std::uint32_t left_;
};

/// Clamps a number to the type of its field.
template <typename To>
To capped(std::uint64_t number) noexcept {
    return static_cast<To>(std::min<std::uint64_t>(number, std::numeric_limits<To>::max()));
}

} // namespace

std::optional<MessageSections> MessageSections::find(std::string_view encoded) noexcept {
    std::optional<MessageSections> found{std::in_place};
    const Place* last = nullptr;
    for (std::string_view rest = encoded; !rest.empty();) {
        Decoder decoder{rest};
        const std::uint64_t code = decoder.read_descriptor().value_or(0);
        const Place* const place = place_of(code);
        const auto value = place != nullptr ? decoder.skip() : std::nullopt;
        const bool repeats = place == last && (code == section::data || code == section::sequence);
        if (!value || !(repeats || last == nullptr || place->order > last->order) ||
            (code == section::data && !constructor::is_bytes(first_byte(*value)))) {
            found.reset();
            return found;
        }
        std::string_view& whole = (*found).*(place->view);
        whole = {repeats ? whole.data() : rest.data(), whole.size() + decoder.position()};
        if (repeats && code == section::data) {
            found->body_kind = BodyKind::several_data;
        } else if (place->kind != BodyKind::none) {
            found->body_kind = place->kind;
        }
        last = place;
        rest.remove_prefix(decoder.position());
    }
    return found;
}

std::optional<std::string> in_standard_order(std::string_view encoded) {
    std::array<std::string, 8> by_order;
    for (std::string_view rest = encoded; !rest.empty();) {
        Decoder decoder{rest};
        const Place* const place = place_of(decoder.read_descriptor().value_or(0));
        if (place == nullptr || !decoder.skip()) {
            return std::nullopt;
        }
        by_order.at(place->order) += rest.substr(0, decoder.position());
        rest.remove_prefix(decoder.position());
    }
    std::string sorted;
    for (const std::string& sections : by_order) {
        sorted += sections;
    }
    return sorted;
}

std::optional<MessageHeader> MessageHeader::read(std::string_view encoded_section) noexcept {
    MessageHeader header;
    if (encoded_section.empty()) {
        return header;
    }
    Decoder decoder{encoded_section};
    const auto list = decoder.read_descriptor() ? decoder.read_list() : std::nullopt;
    if (!list || list->count > 5) {
        return std::nullopt;
    }
    FieldReader fields{*list};
    header.durable = fields.boolean().value_or(false);
    header.priority = capped<std::uint8_t>(fields.number().value_or(header.priority));
    if (const auto milliseconds = fields.number()) {
        header.time_to_live = capped<std::uint32_t>(*milliseconds);
    }
    header.first_acquirer = fields.boolean().value_or(false);
    header.delivery_count = capped<std::uint32_t>(fields.number().value_or(0));
    return fields.at_end() ? std::optional{header} : std::nullopt;
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
        encoder.put_raw(encoded[i].empty() ? std::string_view{&encoded_null, 1} : encoded[i]);
    }
    encoder.end_list(begun, count);
}

std::optional<std::string_view> MessageProperties::text(Field field) const noexcept {
    return bytes_in(encoded[field]);
}

std::optional<WallTime> MessageProperties::time(Field field) const noexcept {
    return time_in(encoded[field]);
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

std::optional<WallTime> time_in(std::string_view encoded_value) noexcept {
    const auto milliseconds = Decoder{encoded_value}.read_integer();
    return milliseconds ? std::optional{Timestamp{*milliseconds}.time()} : std::nullopt;
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

std::optional<std::string_view> whole_body(const MessageSections& sections) noexcept {
    Decoder decoder{sections.body};
    static_cast<void>(decoder.read_descriptor());
    const std::string_view whole = decoder.rest();
    const bool is_value = sections.body_kind == BodyKind::value;
    if (sections.body_kind == BodyKind::none || (is_value && decoder.read_null())) {
        return std::string_view{};
    }
    if (sections.body_kind == BodyKind::sequence) {
        return whole;
    }
    const auto bytes = decoder.read_bytes();
    if (is_value) {
        return bytes.value_or(whole);
    }
    return decoder.at_end() ? bytes : std::nullopt;
}

std::string joined_body(const MessageSections& sections) {
    std::string joined;
    Decoder decoder{sections.body};
    while (decoder.read_descriptor()) {
        // `find` has checked that it is binary
        joined.append(decoder.read_bytes().value_or(std::string_view{}));
    }
    return joined;
}

} // namespace sessionq::amqp
