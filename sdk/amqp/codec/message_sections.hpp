// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/message.hpp>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

class Encoder;

/// Section codes of a message (AMQP 1.0 part 3, section 2).
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

using sessionq::BodyKind;

/// The sections of an encoded message, as views that include the descriptor. A view is empty if the
/// section is absent. Their contents are not checked, except that data sections hold bytes.
struct MessageSections {
    std::string_view header{};
    std::string_view delivery_annotations{};
    std::string_view message_annotations{};
    std::string_view properties{};
    std::string_view application_properties{};
    std::string_view body{}; ///< all data or sequence sections, or the value section
    std::string_view footer{};
    BodyKind body_kind{BodyKind::none};

    /// Returns nothing unless the bytes are sections in the standard's order.
    [[nodiscard]] static std::optional<MessageSections> find(std::string_view encoded) noexcept;
};

/// The same sections in the standard's order. Some clients send them in another: rhea, and with it
/// Azure's client for JavaScript, sends a footer before the body. Nothing if the bytes are no
/// sections. The result may still have some that the standard does not allow together.
[[nodiscard]] std::optional<std::string> in_standard_order(std::string_view encoded);

/// The header section. Absent fields have the standard's defaults.
struct MessageHeader {
    bool durable{false};
    std::uint8_t priority{4};
    std::optional<std::uint32_t> time_to_live{}; ///< in milliseconds
    bool first_acquirer{false};
    std::uint32_t delivery_count{0};

    [[nodiscard]] static std::optional<MessageHeader> read(
        std::string_view encoded_section) noexcept;
    void write(std::string& to) const;
};

/// The properties section, with its fields still encoded.
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

    std::array<std::string_view, field_count> encoded{}; ///< empty if absent

    [[nodiscard]] static std::optional<MessageProperties> read(
        std::string_view encoded_section) noexcept;
    void write(std::string& out) const;

    /// Returns a string, symbol or binary. Returns nothing for null, absent fields and other types.
    [[nodiscard]] std::optional<std::string_view> text(Field field) const noexcept;
    [[nodiscard]] std::optional<WallTime> time(Field field) const noexcept;
    /// Returns a message-id or correlation-id of any type as text: numbers in decimal, UUIDs in
    /// their usual form. Empty if absent.
    [[nodiscard]] std::string id(Field field) const;
    [[nodiscard]] std::optional<Value> value(Field field) const;
};

/// Returns a timestamp or a number of milliseconds.
[[nodiscard]] std::optional<WallTime> time_in(std::string_view encoded_value) noexcept;

/// Calls `visit(index, encoded_value)` for each field of a list section that is not null. Returns
/// false if the list is malformed or has more than `most` fields.
template <typename Visitor>
bool visit_fields(std::string_view encoded_section, std::uint32_t most, Visitor&& visit);

/// One entry of a map section.
struct EncodedEntry {
    std::optional<std::string_view> name{}; ///< the key's text, if it is a string or symbol
    std::string_view key{};                 ///< encoded
    std::string_view value{};               ///< encoded
};

/// Calls `visit(entry)` for each entry of a map section. Returns false if the map is malformed.
template <typename Visitor>
bool visit_encoded_entries(std::string_view encoded_section, Visitor&& visit);

/// Calls `visit(key, encoded_value)` for each entry of a map section whose key is a string or
/// symbol. Returns false if the map is malformed.
template <typename Visitor>
bool visit_entries(std::string_view encoded_section, Visitor&& visit);

/// Writes the entries of a map section byte for byte, except those with a name that `is_dropped`.
/// Stops where the map is malformed. Returns how many keys and values it wrote.
template <typename IsDropped>
[[nodiscard]] std::uint32_t copy_entries(std::string_view encoded_section, Encoder& to,
                                         IsDropped&& is_dropped);

/// Returns the encoded value under a key of a map section, or an empty view.
[[nodiscard]] std::string_view find_entry(std::string_view encoded_section,
                                          std::string_view key) noexcept;

/// Returns the body: the bytes of a data section, a string or a binary value, nothing of a null
/// value, or else the encoded content. Returns no view if it lies in several data sections.
[[nodiscard]] std::optional<std::string_view> whole_body(const MessageSections& sections) noexcept;
/// Returns the bytes of all data sections.
[[nodiscard]] std::string joined_body(const MessageSections& sections);

} // namespace sessionq::amqp

#include "amqp/codec/message_sections_visit.hpp"
