#pragma once

#include <optional>
#include <utility>

#include <sessionq/message_content.hpp>

namespace sessionq::broker::filter {

/// A message to which rules are applied. It is decoded when the first rule reads it, and only once.
/// For one thread at a time.
class Candidate {
public:
    explicit Candidate(MessageContentPtr content) noexcept : content_{std::move(content)} {}

    [[nodiscard]] const MessageContentPtr& content() const noexcept { return content_; }

    /// Everything except the body; null if it cannot be decoded.
    [[nodiscard]] const Message* outline() {
        if (!std::exchange(is_read_, true)) {
            outline_ = content_->outline();
        }
        return outline_ ? &*outline_ : nullptr;
    }

private:
    MessageContentPtr content_;
    std::optional<Message> outline_{};
    bool is_read_{false};
};

} // namespace sessionq::broker::filter
