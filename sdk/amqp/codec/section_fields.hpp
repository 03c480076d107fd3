// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/codec/message_sections.hpp"

// The fields of the header and the properties section, with the types of their definitions (AMQP
// 1.0 part 3, sections 2.1 and 2.4). Some clients cannot read a field of another type, so all that
// changes a field writes it with its type.
namespace sessionq::amqp {

class Encoder;

enum class FieldType : std::uint8_t {
    boolean,
    ubyte,
    uint, ///< also `milliseconds` and `sequence-no`
    id,   ///< a ulong, UUID, binary or string
    binary,
    string, ///< also `address`
    symbol,
    timestamp,
};

struct SectionField {
    std::string_view name;
    FieldType type;
};

inline constexpr std::array<SectionField, 5> header_fields{{{"durable", FieldType::boolean},
                                                            {"priority", FieldType::ubyte},
                                                            {"ttl", FieldType::uint},
                                                            {"first-acquirer", FieldType::boolean},
                                                            {"delivery-count", FieldType::uint}}};

/// In the order of `MessageProperties::Field`.
inline constexpr std::array<SectionField, MessageProperties::field_count> properties_fields{
    {{"message-id", FieldType::id},
     {"user-id", FieldType::binary},
     {"to", FieldType::string},
     {"subject", FieldType::string},
     {"reply-to", FieldType::string},
     {"correlation-id", FieldType::id},
     {"content-type", FieldType::symbol},
     {"content-encoding", FieldType::symbol},
     {"absolute-expiry-time", FieldType::timestamp},
     {"creation-time", FieldType::timestamp},
     {"group-id", FieldType::string},
     {"group-sequence", FieldType::uint},
     {"reply-to-group-id", FieldType::string}}};

/// Appends a text with the type of its field, which is an id, a string, a symbol or binary.
void write_text(MessageProperties::Field field, std::string_view text, Encoder& encoder);

/// Returns true if a value has the type of a field. Null fits every field.
[[nodiscard]] bool has_type(const SectionField& field, std::string_view encoded_value) noexcept;

} // namespace sessionq::amqp
