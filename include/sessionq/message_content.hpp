#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

namespace sessionq {

/// The properties of a message that are text and have names of their own.
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

/// What is to be different in a message.
struct ContentChanges {
    Properties properties{}; ///< Put over the application properties.
    std::map<std::string, std::string, std::less<>>
        encoded{}; ///< Some of `properties` as they came over the wire, where types are finer.
    std::vector<std::string>
        removed{}; ///< Application properties to leave out, unless put over them.
    std::vector<std::pair<TextField, std::optional<std::string>>>
        texts{}; ///< Without a value: to leave out.
};

/// What a message says, in the form in which it is at hand: as an application made it, or still as
/// it came over the wire, to be decoded part by part when somebody asks. Immutable and shared. For
/// ports; applications see it through `ReceivedMessage`.
///
/// Views live as long as the content.
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

    [[nodiscard]] virtual std::string_view body() const = 0;
    [[nodiscard]] virtual std::optional<std::string_view> session_id() const = 0;
    [[nodiscard]] virtual std::string_view message_id() const = 0;
    [[nodiscard]] virtual std::optional<std::chrono::milliseconds> time_to_live() const = 0;
    [[nodiscard]] virtual std::optional<WallTime> scheduled_enqueue_time() const = 0;
    [[nodiscard]] virtual Deadline deadline() const = 0;

    /// All of it, decoded at first use and kept. Throws `Error{Errc::protocol_error}` where the
    /// parts that nobody asked for before cannot be decoded.
    [[nodiscard]] virtual const Message& message() const = 0;

    /// All of it but the body, decoded anew at each call and not kept. Nothing where `message`
    /// would throw.
    [[nodiscard]] virtual std::optional<Message> outline() const = 0;

    /// What it counts against byte budgets.
    [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;

    /// The same but for the changes.
    [[nodiscard]] virtual std::shared_ptr<const MessageContent> with_changes(
        const ContentChanges& changes) const = 0;

    /// The same with `properties` put over the application properties.
    [[nodiscard]] std::shared_ptr<const MessageContent> with_properties(
        Properties properties) const {
        ContentChanges changes;
        changes.properties = std::move(properties);
        return with_changes(changes);
    }
};

using MessageContentPtr = std::shared_ptr<const MessageContent>;

/// Content as an application made it.
///
/// Thread safety: distinct objects are safe; a shared object is safe to read.
class DecodedContent : public MessageContent {
public:
    explicit DecodedContent(Message message) noexcept : message_{std::move(message)} {}

    [[nodiscard]] std::string_view body() const override { return message_.body; }
    [[nodiscard]] std::optional<std::string_view> session_id() const override {
        return message_.session_id;
    }
    [[nodiscard]] std::string_view message_id() const override { return message_.message_id; }
    [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_live() const override {
        return message_.time_to_live;
    }
    [[nodiscard]] std::optional<WallTime> scheduled_enqueue_time() const override {
        return message_.scheduled_enqueue_time;
    }
    [[nodiscard]] Deadline deadline() const override { return message_.deadline; }
    [[nodiscard]] const Message& message() const override { return message_; }
    [[nodiscard]] std::size_t bytes() const noexcept override;
    [[nodiscard]] std::optional<Message> outline() const override;
    [[nodiscard]] MessageContentPtr with_changes(const ContentChanges& changes) const override;

private:
    const Message message_;
};

} // namespace sessionq
