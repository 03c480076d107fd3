// SPDX-License-Identifier: MIT
#include <algorithm>

#include "amqp/codec/constructor.hpp"
#include "amqp/codec/encoder.hpp"

// The part of Encoder that writes arrays. The elements share the array's one constructor.
namespace sessionq::amqp {
namespace {

/// Returns the type's form that holds every value.
std::uint8_t widest(std::uint8_t code) noexcept {
    switch (code) {
    case 0x41:
    case 0x42: return 0x56;
    case 0x43:
    case 0x52: return 0x70;
    case 0x44:
    case 0x53: return 0x80;
    case 0x54: return 0x71;
    case 0x55: return 0x81;
    case 0x45:
    case 0xc0: return 0xd0;
    case 0xc1: return 0xd1;
    case 0xa0:
    case 0xa1:
    case 0xa3: return static_cast<std::uint8_t>(code + 0x10);
    case 0xe0: return 0xf0;
    default: return code;
    }
}

} // namespace

bool Encoder::fits(std::uint8_t code, const Value& element) {
    switch (code) {
    case 0x41:
    case 0x42: return element == Value{code == 0x41};
    case 0x43:
    case 0x44: return element.unsigned_integer() == 0U;
    case 0x45: return element == Value{List{}};
    case 0x52:
    case 0x53: return element.unsigned_integer().value_or(0x100) <= 0xff;
    case 0x54:
    case 0x55:
        return element.integer().value_or(0x80) >= -0x80 && element.integer().value_or(0x80) < 0x80;
    case 0xa0:
    case 0xa1:
    case 0xa3: return element.bytes().value_or(std::string_view{}).size() <= 0xff;
    case 0xc0:
    case 0xc1:
    case 0xe0: return items_of(element).fit_short_form();
    default: return true;
    }
}

Encoder::Items Encoder::items_of(const Value& value) {
    if (const List* list = value.as<List>()) {
        return items_of(*list);
    }
    if (const Map* map = value.as<Map>()) {
        return items_of(*map);
    }
    const Array* array = value.as<Array>();
    return array != nullptr ? items_of(*array) : Items{};
}

Encoder::Items Encoder::items_of(const Array& array) {
    Items items{.count = static_cast<std::uint32_t>(array.items.size())};
    Encoder inside{items.encoded};
    if (array.descriptor) {
        inside.put(0x00);
        inside.write(*array.descriptor);
    }
    const bool all_fit = std::all_of(array.items.begin(), array.items.end(),
                                     [&](const Value& item) { return fits(array.element, item); });
    const std::uint8_t code = all_fit ? array.element : widest(array.element);
    inside.put(code);
    for (const Value& item : array.items) {
        inside.write_element(code, item);
    }
    return items;
}

void Encoder::write_element(std::uint8_t code, const Value& element) {
    using namespace constructor;
    if (is_array(code) || is_compound(code)) {
        put_compound(has_short_size(code), items_of(element));
        return;
    }
    if (is_sized(code)) {
        const std::string_view bytes = element.bytes().value_or(std::string_view{});
        put_number(bytes.size(), has_short_size(code) ? 1 : 4);
        put_raw(bytes);
        return;
    }
    const std::size_t width = fixed_width(code).value_or(0);
    if (const auto number = element.unsigned_integer()) {
        put_number(*number, width);
    } else if (const auto negative = element.integer()) {
        put_number(static_cast<std::uint64_t>(*negative), width);
    } else if (const bool* boolean = element.as<bool>()) {
        put_number(*boolean ? 1 : 0, width);
    } else { // all other types have one form
        const std::string alone = encode(element);
        put_raw(std::string_view{alone}.substr(1));
    }
}

} // namespace sessionq::amqp
