// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <sessionq/message_content.hpp>

#include "amqp/codec/message_sections.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

/// The same instant on the monotonic clock of this process and on a wall clock.
struct ClockReading {
    TimePoint now{};
    WallTime wall{};
};

/// From one instant of a wall clock to another. Instants from outside may be far apart: it is at
/// most a hundred years.
[[nodiscard]] Duration between(WallTime earlier, WallTime later) noexcept;

/// The reading of the same clocks at another instant.
[[nodiscard]] inline ClockReading reading_at(WallTime wall, const ClockReading& known) noexcept {
    return {.now = known.now + between(known.wall, wall), .wall = wall};
}

/// The application property that carries the time that was left until a message's deadline when it
/// was sent, in milliseconds (R22). It is no instant, because the clocks of sender and consumer may
/// differ.
inline constexpr std::string_view time_left_property = "sessionq-time-left";

/// Message annotations of Azure Service Bus that a sender sets.
inline constexpr std::string_view scheduled_enqueue_time_annotation =
    "x-opt-scheduled-enqueue-time";
/// The same from JMS clients, in AMQP's mapping of JMS.
inline constexpr std::string_view delivery_time_annotation = "x-opt-delivery-time";
inline constexpr std::string_view partition_key_annotation = "x-opt-partition-key";

/// A message in its wire form. Its sections are located once and decoded on demand. The bytes are
/// in the same allocation as the object.
class EncodedContent final : public MessageContent {
public:
    /// Copies the bytes. Fails with protocol_error if they are not a message. Application
    /// properties and annotations are not checked (see `find_unreadable`), except for the time left
    /// until the deadline, which counts from `at`.
    [[nodiscard]] static core::Result<std::shared_ptr<const EncodedContent>> make(
        std::string_view encoded, const ClockReading& at);

    /// Names the part of the properties, application properties and annotations that nobody could
    /// decode. Returns nothing if `message`, `outline`, `annotations` and `property` will succeed.
    /// A broker asks once, before it keeps the message.
    [[nodiscard]] std::optional<Failure> find_unreadable() const;

    [[nodiscard]] const MessageSections& sections() const noexcept { return sections_; }
    /// Reads the properties at each call. A broker keeps many messages and rarely needs their
    /// properties.
    [[nodiscard]] MessageProperties properties() const noexcept {
        return MessageProperties::read(sections_.properties).value_or(MessageProperties{});
    }
    [[nodiscard]] const MessageHeader& header() const noexcept { return header_; }
    [[nodiscard]] std::string_view encoded() const noexcept { return encoded_; }
    /// The expiry that the sender or the delivering broker set.
    [[nodiscard]] const std::optional<WallTime>& absolute_expiry_time() const noexcept {
        return absolute_expiry_time_;
    }

    [[nodiscard]] std::string_view body() const override { return body_; }
    [[nodiscard]] BodyKind body_kind() const override { return sections_.body_kind; }
    [[nodiscard]] std::optional<std::string_view> session_id() const override {
        return session_id_;
    }
    [[nodiscard]] std::string_view message_id() const override { return message_id_; }
    [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_live() const override;
    [[nodiscard]] std::uint8_t priority() const override { return header_.priority; }
    [[nodiscard]] std::optional<WallTime> scheduled_enqueue_time() const override;
    [[nodiscard]] Deadline deadline() const override { return deadline_; }
    [[nodiscard]] std::string_view text(TextField field) const override;
    [[nodiscard]] const Message& message() const override;
    [[nodiscard]] std::size_t bytes() const noexcept override;
    [[nodiscard]] std::size_t wire_bytes() const noexcept override { return encoded_.size(); }
    [[nodiscard]] std::optional<Message> outline() const override;
    [[nodiscard]] std::optional<PropertyValue> property(std::string_view name) const override;
    [[nodiscard]] Properties annotations() const override;
    [[nodiscard]] std::optional<PropertyValue> annotation(std::string_view name) const override;
    [[nodiscard]] MessageContentPtr with_changes(const ContentChanges& changes) const override;

    /// Restricts the constructor to `make`.
    struct Key {
        explicit Key() = default;
    };
    explicit EncodedContent(Key) noexcept {}

private:
    /// Values that are not views of the bytes: a body joined from several data sections, and ids
    /// converted to text.
    struct Converted {
        std::string body{};
        std::string message_id{};
        std::string correlation_id{};
    };

    [[nodiscard]] std::optional<WallTime> annotated_time(std::string_view annotation) const;
    void write_changed_properties(const ContentChanges& changes, std::string& to) const;
    void write_changed_application_properties(const ContentChanges& changes, std::string& to) const;
    void set_body();
    bool set_properties();
    void set_application_properties(TimePoint now);
    [[nodiscard]] std::optional<Failure> find_unreadable_property() const;
    [[nodiscard]] Converted& converted();

    [[nodiscard]] static std::shared_ptr<EncodedContent> copy_of(std::string_view encoded);

    std::string_view encoded_{};
    MessageSections sections_{};
    MessageHeader header_{};
    std::string_view body_{};
    std::string_view message_id_{};
    std::optional<std::string_view> session_id_{};
    std::optional<WallTime> absolute_expiry_time_{};
    std::unique_ptr<Converted> converted_{}; // null for most messages
    Deadline deadline_{};
    bool are_properties_readable_{false}; // both sections; false also: not known
    mutable std::once_flag decoded_{};
    mutable std::unique_ptr<const Message> message_{};
};

} // namespace sessionq::amqp
