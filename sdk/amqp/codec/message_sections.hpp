#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

/// Codes of the sections of a message (part 3, section 2 of the standard).
namespace section {
inline constexpr std::uint64_t header = 0x70;
inline constexpr std::uint64_t delivery_annotations = 0x71;
inline constexpr std::uint64_t message_annotations = 0x72;
inline constexpr std::uint64_t properties = 0x73;
inline constexpr std::uint64_t application_properties = 0x74;
inline constexpr std::uint64_t data = 0x75;
inline constexpr std::uint64_t sequence = 0x76;
inline constexpr std::uint64_t value = 0x77;
inline constexpr std::uint64_t footer = 0x78;
} // namespace section

enum class BodyKind : std::uint8_t { none, data, sequence, value };

/// Where the sections of an encoded message are. Views of whole sections, descriptor included;
/// empty: not there. Nothing inside them is looked at yet, but that data sections hold bytes.
struct MessageSections {
    std::string_view header{};
    std::string_view delivery_annotations{};
    std::string_view message_annotations{};
    std::string_view properties{};
    std::string_view application_properties{};
    std::string_view body{}; ///< all data or sequence sections, or the value section
    std::string_view footer{};
    BodyKind body_kind{BodyKind::none};

    /// Nothing if the bytes are no run of sections in the standard's order.
    [[nodiscard]] static std::optional<MessageSections> find(std::string_view encoded) noexcept;
};

/// The header section, with the standard's defaults for what is absent.
struct MessageHeader {
    bool durable{false};
    std::uint8_t priority{4};
    std::optional<std::uint32_t> time_to_live{}; ///< milliseconds
    bool first_acquirer{false};
    std::uint32_t delivery_count{0};

    [[nodiscard]] static std::optional<MessageHeader> read(
        std::string_view encoded_section) noexcept;
    void write(std::string& to) const;
};

/// The properties section, its fields still encoded.
struct MessageProperties {
    enum Field : std::uint8_t {
        message_id,
        user_id,
        to,
        subject,
        reply_to,
        correlation_id,
        content_type,
        content_encoding,
        absolute_expiry_time,
        creation_time,
        group_id,
        group_sequence,
        reply_to_group_id,
        field_count,
    };

    std::array<std::string_view, field_count> encoded{}; ///< empty: absent

    [[nodiscard]] static std::optional<MessageProperties> read(
        std::string_view encoded_section) noexcept;
    void write(std::string& out) const;

    /// A string, symbol or binary as it is; nothing for null, absence and other types.
    [[nodiscard]] std::optional<std::string_view> text(Field field) const noexcept;
    [[nodiscard]] std::optional<WallTime> time(Field field) const noexcept;
    /// A message-id or correlation-id of any of its types: numbers in decimal, UUIDs in their usual
    /// form. Empty: absent.
    [[nodiscard]] std::string id(Field field) const;
    [[nodiscard]] std::optional<Value> value(Field field) const;
};

/// Walks over the fields of a list section. False: it cannot be walked over, or has more than
/// `most`. `visit(index, encoded_value)`; those that are null are left out.
template <typename Visitor>
bool visit_fields(std::string_view encoded_section, std::uint32_t most, Visitor&& visit);

/// Walks over the entries of a map section. False: it cannot be walked over. `visit(key,
/// encoded_value)`; keys that are neither string nor symbol are left out.
template <typename Visitor>
bool visit_entries(std::string_view encoded_section, Visitor&& visit);

/// The value, encoded, under a key of a map section; empty: there is none.
[[nodiscard]] std::string_view find_entry(std::string_view encoded_section,
                                          std::string_view key) noexcept;

/// Of a body: the bytes of its data sections joined, of a string or binary value the bytes, else
/// the encoded value. `joined` keeps what must be put together.
[[nodiscard]] std::string_view body_bytes(const MessageSections& sections, std::string& joined);

} // namespace sessionq::amqp

#include "amqp/codec/message_sections_visit.hpp"
