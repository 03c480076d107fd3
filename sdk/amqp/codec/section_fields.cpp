// SPDX-License-Identifier: MIT
#include "amqp/codec/section_fields.hpp"

#include "amqp/codec/encoder.hpp"

namespace sessionq::amqp {

void write_text(MessageProperties::Field field, std::string_view text, Encoder& encoder) {
    switch (properties_fields[field].type) {
    case FieldType::symbol: return encoder.write_symbol(text);
    case FieldType::binary: return encoder.write_binary(text);
    default: return encoder.write_string(text);
    }
}

bool has_type(const SectionField& field, std::string_view encoded_value) noexcept {
    const auto code =
        encoded_value.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(encoded_value.front());
    const bool is_string = code == 0xa1 || code == 0xb1;
    const bool is_binary = code == 0xa0 || code == 0xb0;
    if (code == 0x40) {
        return true;
    }
    switch (field.type) {
    case FieldType::boolean: return code == 0x41 || code == 0x42 || code == 0x56;
    case FieldType::ubyte: return code == 0x50;
    case FieldType::uint: return code == 0x43 || code == 0x52 || code == 0x70;
    case FieldType::id:
        return is_string || is_binary || code == 0x98 || code == 0x44 || code == 0x53 ||
               code == 0x80;
    case FieldType::binary: return is_binary;
    case FieldType::string: return is_string;
    case FieldType::symbol: return code == 0xa3 || code == 0xb3;
    case FieldType::timestamp: return code == 0x83;
    }
    return false;
}

} // namespace sessionq::amqp
