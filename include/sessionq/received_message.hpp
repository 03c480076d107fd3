#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <sessionq/message.hpp>
#include <sessionq/message_content.hpp>

namespace sessionq {

/// A message as it was received or peeked: shared, immutable content and the facts of this
/// delivery. Cheap to copy. What came over a wire is decoded when it is asked for: a handler that
/// reads only the body pays only for the body.
///
/// Thread safety: distinct objects are safe; a shared object is safe to read. The content lives as
/// long as any copy.
class ReceivedMessage {
public:
    ReceivedMessage() = default;
    ReceivedMessage(MessageContentPtr content, DeliveryFacts facts)
        : content_{std::move(content)}, facts_{std::move(facts)} {}

    /// Whether it was made without content; nothing but `facts` may be asked of it then.
    [[nodiscard]] bool empty() const noexcept { return content_ == nullptr; }

    /// The whole message. Errors: protocol_error (what came over the wire cannot be decoded).
    [[nodiscard]] const Message& content() const { return content_->message(); }
    [[nodiscard]] const MessageContentPtr& shared_content() const noexcept { return content_; }

    /// The body. Views live as long as any copy of the message.
    [[nodiscard]] std::string_view text() const { return content_->body(); }
    [[nodiscard]] std::span<const std::byte> body() const {
        return std::as_bytes(std::span{content_->body()});
    }
    /// The session id; empty where the message has none (tell apart by content().session_id).
    [[nodiscard]] std::string_view session_id() const {
        return content_->session_id().value_or(std::string_view{});
    }
    [[nodiscard]] std::string_view message_id() const { return content_->message_id(); }
    /// Errors: protocol_error.
    [[nodiscard]] const Properties& properties() const { return content().properties; }

    [[nodiscard]] std::int64_t sequence_number() const noexcept { return facts_.sequence_number; }
    [[nodiscard]] std::uint32_t delivery_count() const noexcept { return facts_.delivery_count; }
    [[nodiscard]] WallTime enqueued_time() const noexcept { return facts_.enqueued_time; }
    [[nodiscard]] const DeliveryFacts& facts() const noexcept { return facts_; }

private:
    MessageContentPtr content_{};
    DeliveryFacts facts_{};
};

} // namespace sessionq
