// SPDX-License-Identifier: MIT
#pragma once

// The performatives of AMQP 1.0 (part 2, section 7) and the composite types inside them, as a
// table.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sessionq::amqp {

/// Descriptors by their low byte.
struct Performative {
    static constexpr std::uint8_t open = 0x10;
    static constexpr std::uint8_t begin = 0x11;
    static constexpr std::uint8_t attach = 0x12;
    static constexpr std::uint8_t flow = 0x13;
    static constexpr std::uint8_t transfer = 0x14;
    static constexpr std::uint8_t disposition = 0x15;
    static constexpr std::uint8_t detach = 0x16;
    static constexpr std::uint8_t end = 0x17;
    static constexpr std::uint8_t close = 0x18;
    static constexpr std::uint8_t error = 0x1d;
    static constexpr std::uint8_t source = 0x28;
    static constexpr std::uint8_t target = 0x29;
    static constexpr std::uint8_t coordinator = 0x30;
};

// The positions of fields.
namespace open_field {
enum : std::size_t {
    container,
    hostname,
    max_frame_size,
    channel_max,
    idle_time_out,
    offered_capabilities = 7,
    properties = 9
};
} // namespace open_field
namespace begin_field {
enum : std::size_t {
    remote_channel,
    next_outgoing_id,
    incoming_window,
    outgoing_window,
    handle_max,
};
} // namespace begin_field
namespace attach_field {
enum : std::size_t {
    name,
    handle,
    role,
    sender_mode,
    receiver_mode,
    source,
    target,
    unsettled,
    incomplete_unsettled,
    initial_delivery_count,
    max_message_size,
    properties = 13,
};
} // namespace attach_field
namespace flow_field {
enum : std::size_t {
    next_incoming_id,
    incoming_window,
    next_outgoing_id,
    outgoing_window,
    handle,
    delivery_count,
    link_credit,
    available,
    drain,
    echo,
};
} // namespace flow_field
namespace transfer_field {
enum : std::size_t {
    handle,
    delivery_id,
    delivery_tag,
    message_format,
    settled,
    more,
    receiver_mode,
    state,
    resume,
    aborted,
};
} // namespace transfer_field
namespace disposition_field {
enum : std::size_t { role, first, last, settled, state };
} // namespace disposition_field
namespace detach_field {
enum : std::size_t { handle, closed, error };
} // namespace detach_field
namespace error_field {
enum : std::size_t { condition, description, info };
} // namespace error_field
/// A source or a target.
namespace terminus_field {
enum : std::size_t { address, dynamic = 4, properties = 5, distribution_mode = 6, filter = 7 };
} // namespace terminus_field

/// The values that a field may hold. `any`: every value; its contents are not looked at.
enum class FieldType : std::uint8_t { boolean, number, text, binary, map, any };

struct FieldRule {
    std::string_view name{};
    FieldType type{FieldType::any};
    bool mandatory{false};
    std::uint32_t most{0};  ///< of a number
    std::uint32_t value{0}; ///< of a number or boolean that is absent
};

/// A composite type.
struct CompositeRule {
    std::uint8_t code{0};
    std::string_view name{};
    std::span<const FieldRule> fields{};
    std::size_t least{0}; ///< how many fields there must be
};

/// Null for a type that is not in the table.
[[nodiscard]] const CompositeRule* rule_of(std::uint8_t code) noexcept;
/// Zero for a type that is not in the table.
[[nodiscard]] std::size_t fields_of_type(std::uint8_t code) noexcept;

/// A composite value as views of the bytes it was read from. A field that is absent reads as null.
class Fields {
public:
    static constexpr std::size_t most = 14;

    /// Reads the value at the beginning of `bytes`. Returns nothing unless it is of a type of the
    /// table and keeps its rules; `fault` then says which rule it breaks.
    [[nodiscard]] static std::optional<Fields> read(std::string_view bytes, std::string& fault);

    [[nodiscard]] std::uint8_t code() const noexcept { return rule_->code; }
    /// The bytes after the value.
    [[nodiscard]] std::string_view payload() const noexcept { return payload_; }

    [[nodiscard]] bool has(std::size_t index) const noexcept { return !fields_[index].empty(); }
    /// The encoded value; empty if absent.
    [[nodiscard]] std::string_view raw(std::size_t index) const noexcept { return fields_[index]; }
    /// A number, or the table's value for one that is absent.
    [[nodiscard]] std::uint32_t number(std::size_t index) const noexcept {
        const std::string_view value = fields_[index];
        if (!value.empty() && value.front() == '\x52') { // most numbers on the wire
            return static_cast<std::uint8_t>(value[1]);
        }
        return any_number(index);
    }
    [[nodiscard]] std::uint64_t long_number(std::size_t index) const noexcept;
    [[nodiscard]] bool is_true(std::size_t index) const noexcept;
    /// A string, symbol or binary; empty if absent.
    [[nodiscard]] std::string_view text(std::size_t index) const noexcept;

private:
    [[nodiscard]] bool take(std::uint32_t count, std::string_view items, std::string& fault);
    [[nodiscard]] std::uint32_t any_number(std::size_t index) const noexcept;

    const CompositeRule* rule_{nullptr};
    std::array<std::string_view, most> fields_{};
    std::string_view payload_{};
};

} // namespace sessionq::amqp
