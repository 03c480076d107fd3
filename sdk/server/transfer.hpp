// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/message_content.hpp>

#include "broker/instant.hpp"
#include "core/result.hpp"
#include "server/limits.hpp"

namespace sessionq::server {

/// Decodes the messages of a batch, some at a time. Each is kept as received.
class BatchDecoder {
public:
    /// `encoded` and `limits` outlive the decoder.
    BatchDecoder(std::string_view encoded, const Limits& limits);

    [[nodiscard]] std::size_t left() const noexcept { return parts_.size() - decoded_.size(); }
    /// Decodes at most so many. Returns true once all are, or one cannot be.
    bool decode(std::size_t count, broker::Instant now);
    /// All messages, or why there are none: protocol_error, or message_too_large beyond the limits.
    [[nodiscard]] core::Result<std::vector<MessageContentPtr>> take() &&;

private:
    const Limits& limits_;
    std::vector<std::string_view> parts_{};
    std::vector<MessageContentPtr> decoded_{};
    std::optional<Failure> failure_{};
    std::string made_{}; // memory for one message
};

/// Decodes a message that came alone; it is kept as received. Fails as the batch does.
[[nodiscard]] core::Result<MessageContentPtr> decode_message(std::string_view encoded,
                                                             broker::Instant now,
                                                             const Limits& limits);

} // namespace sessionq::server
