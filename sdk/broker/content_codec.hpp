// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sessionq/message_content.hpp>
#include <sessionq/rule.hpp>

#include "core/result.hpp"

namespace sessionq::broker {

/// Encodes message contents and subscription rules as bytes that can be stored, and decodes them.
/// Thread-safe.
class ContentCodec {
public:
    virtual ~ContentCodec() = default;

    /// Encodes the content of a message that was enqueued at `enqueued`, using `scratch` as memory
    /// if necessary. The result is valid until `content` or `scratch` changes.
    [[nodiscard]] virtual std::string_view encode(const MessageContent& content, WallTime enqueued,
                                                  std::string& scratch) const = 0;

    /// Fails with protocol_error if `encode` cannot have made the bytes.
    [[nodiscard]] virtual core::Result<MessageContentPtr> decode(std::string_view bytes,
                                                                 WallTime enqueued) const = 0;

    [[nodiscard]] virtual std::string encode_rules(const std::vector<Rule>& rules) const = 0;
    /// Fails as `decode` does.
    [[nodiscard]] virtual core::Result<std::vector<Rule>> decode_rules(
        std::string_view bytes) const = 0;
};

} // namespace sessionq::broker
