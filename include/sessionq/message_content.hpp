// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/deadline.hpp>
#include <sessionq/message.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// The standard text properties of a message.
enum class TextField : std::uint8_t {
    content_type,
    correlation_id,
    message_id,
    reply_to,
    reply_to_session_id,
    session_id,
    subject,
    to
};

/// For example "reply_to".
[[nodiscard]] std::string_view to_string(TextField field) noexcept;

/// Writes `to_string(field)`.
std::ostream& operator<<(std::ostream& out, TextField field);

/// Changes to make in a copy of a message.
///
/// Example:
///
///     const DecodedContent content{Message::of("placed")};
///     ContentChanges changes;
///     changes.texts.emplace_back(TextField::subject, "order");
///     std::cout << content.with_changes(changes)->text(TextField::subject) << '\n';
struct ContentChanges {
    /// Application properties to add or replace.
    Properties properties{};

    /// The encoded form of some of `properties`, because AMQP's types are finer.
    std::map<std::string, std::string, std::less<>> encoded{};

    /// Application properties to remove, except those in `properties`.
    std::vector<std::string> removed{};

    /// Standard properties to set. Without a value: to remove.
    std::vector<std::pair<TextField, std::optional<std::string>>> texts{};
};

/// The content of a message: an application's `Message`, or encoded bytes that are decoded on
/// demand, part by part. Immutable and shared. Brokers implement it. Applications see it through
/// `ReceivedMessage`.
///
/// Example: a message for the test of a handler.
///
///     const MessageContentPtr content =
///         std::make_shared<const DecodedContent>(Message::of("placed").in_session("ada"));
///     const ReceivedMessage received{content, {.sequence_number = 7}};
///
/// Lifetimes: views live as long as the content.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe to read, also where reading decodes.
class MessageContent {
public:
    MessageContent() = default;
    MessageContent(const MessageContent&) = delete;
    MessageContent& operator=(const MessageContent&) = delete;
    virtual ~MessageContent() = default;

    /// The bytes of the body. A value shows as `BodyKind::value` tells, a sequence encoded.
    [[nodiscard]] virtual std::string_view body() const = 0;
    [[nodiscard]] virtual BodyKind body_kind() const { return BodyKind::data; }
    [[nodiscard]] virtual std::optional<std::string_view> session_id() const = 0;
    [[nodiscard]] virtual std::string_view message_id() const = 0;
    [[nodiscard]] virtual std::optional<std::chrono::milliseconds> time_to_live() const = 0;
    [[nodiscard]] virtual std::uint8_t priority() const = 0;
    [[nodiscard]] virtual std::optional<WallTime> scheduled_enqueue_time() const = 0;
    [[nodiscard]] virtual Deadline deadline() const = 0;

    /// A standard text property. Empty if the message has none. Ids that are no texts in AMQP are
    /// converted: numbers to decimal digits, UUIDs to their usual form. This one decodes the whole
    /// message and throws `Error{Errc::protocol_error}` if a part cannot be decoded.
    /// Implementations override it to decode no more than that property.
    [[nodiscard]] virtual std::string_view text(TextField field) const;

    /// The whole message. It is decoded at first use and kept. Throws
    /// `Error{Errc::protocol_error}` if a part cannot be decoded.
    [[nodiscard]] virtual const Message& message() const = 0;

    /// The message without its body. It is decoded at each call and not kept. Returns nothing if
    /// `message` would throw.
    [[nodiscard]] virtual std::optional<Message> outline() const = 0;

    /// One application property. Nothing if it has none of this name, or if it cannot be decoded.
    /// Implementations override it to decode no more than that property.
    [[nodiscard]] virtual std::optional<PropertyValue> property(std::string_view name) const;

    /// AMQP's message annotations, decoded at each call. None if it was never encoded. Throws
    /// `Error{Errc::protocol_error}` if they cannot be decoded.
    [[nodiscard]] virtual Properties annotations() const { return {}; }

    /// One message annotation. Nothing if it has none of this name, or if it cannot be decoded.
    [[nodiscard]] virtual std::optional<PropertyValue> annotation(std::string_view /*name*/) const {
        return std::nullopt;
    }

    /// Its size in byte budgets.
    [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;

    /// Its size as limits of messages count it: in AMQP's form, or a little less if it has never
    /// had that form.
    [[nodiscard]] virtual std::size_t wire_bytes() const noexcept { return bytes(); }

    /// A copy with the changes.
    [[nodiscard]] virtual std::shared_ptr<const MessageContent> with_changes(
        const ContentChanges& changes) const = 0;

    /// A copy with `properties` added to the application properties or replacing them.
    [[nodiscard]] std::shared_ptr<const MessageContent> with_properties(
        Properties properties) const {
        ContentChanges changes;
        changes.properties = std::move(properties);
        return with_changes(changes);
    }
};

using MessageContentPtr = std::shared_ptr<const MessageContent>;

/// Content made from a `Message`.
///
/// Example:
///
///     const DecodedContent content{Message::of("placed").in_session("ada")};
///     std::cout << content.body() << '\n';
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class DecodedContent : public MessageContent {
public:
    explicit DecodedContent(Message message)
        : deadline_{message.deadline},
          has_properties_{!message.properties.empty()},
          message_{std::move(message)},
          encoded_{message_.value || message_.sequence ? encode_body(message_) : nullptr} {}

    [[nodiscard]] std::string_view body() const override;
    [[nodiscard]] BodyKind body_kind() const override {
        return message_.value      ? BodyKind::value
               : message_.sequence ? BodyKind::sequence
                                   : BodyKind::data;
    }
    [[nodiscard]] std::optional<std::string_view> session_id() const override {
        return message_.session_id;
    }
    [[nodiscard]] std::string_view message_id() const override { return message_.message_id; }
    [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_live() const override {
        return message_.time_to_live;
    }
    [[nodiscard]] std::uint8_t priority() const override { return message_.priority; }
    [[nodiscard]] std::optional<WallTime> scheduled_enqueue_time() const override {
        return message_.scheduled_enqueue_time;
    }
    [[nodiscard]] Deadline deadline() const override { return deadline_; }
    [[nodiscard]] std::string_view text(TextField field) const override;
    [[nodiscard]] const Message& message() const override { return message_; }
    [[nodiscard]] std::size_t bytes() const noexcept override;
    [[nodiscard]] std::size_t wire_bytes() const noexcept override;
    [[nodiscard]] std::optional<Message> outline() const override;
    [[nodiscard]] std::optional<PropertyValue> property(std::string_view name) const override;
    [[nodiscard]] MessageContentPtr with_changes(const ContentChanges& changes) const override;

private:
    /// Encodes a list, a map, and every scalar that `body` does not show as it is. Null: no need.
    [[nodiscard]] static std::unique_ptr<const std::string> encode_body(const Message& message);

    // Every delivery asks for these. They lie apart from the message, in one cache line.
    const Deadline deadline_;
    const bool has_properties_;
    const Message message_;
    const std::unique_ptr<const std::string> encoded_; // null for most messages
};

} // namespace sessionq::inline v1
