// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include <sessionq/message_content.hpp>

#include "broker/filter/cost.hpp"

namespace sessionq::broker::filter {

/// A message to which rules are applied. It is decoded when the first rule reads it, and only once.
/// For one thread at a time.
class Candidate {
public:
    explicit Candidate(MessageContentPtr content) noexcept : content_{std::move(content)} {}

    [[nodiscard]] const MessageContentPtr& content() const noexcept { return content_; }

    /// Everything except the body; null if it cannot be decoded.
    [[nodiscard]] const Message* outline(Work& work) {
        if (!std::exchange(is_read_, true)) {
            outline_ = content_->outline();
            extent_ = outline_ ? Extent::of(*outline_) : Extent{};
            work.add(extent_.properties * steps_to_decode_property);
        }
        return outline_ ? &*outline_ : nullptr;
    }
    /// That of the outline, once it was read.
    [[nodiscard]] const Extent& extent() const noexcept { return extent_; }

private:
    static constexpr std::uint64_t steps_to_decode_property = 128;

    MessageContentPtr content_;
    std::optional<Message> outline_{};
    Extent extent_{};
    bool is_read_{false};
};

} // namespace sessionq::broker::filter
