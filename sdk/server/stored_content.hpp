// SPDX-License-Identifier: MIT
#pragma once

#include "amqp/codec/encoded_content.hpp"
#include "broker/content_codec.hpp"

namespace sessionq::server {

/// Stores messages in their AMQP form. Messages from the wire are kept byte for byte.
class StoredContent final : public broker::ContentCodec {
public:
    /// `at` is any pair of clock readings of this process. It converts the time at which a message
    /// was enqueued, from which the time left until its deadline counts.
    explicit StoredContent(const amqp::ClockReading& at) noexcept : at_{at} {}

    [[nodiscard]] std::string_view encode(const MessageContent& content, WallTime enqueued,
                                          std::string& scratch) const override;
    [[nodiscard]] core::Result<MessageContentPtr> decode(std::string_view bytes,
                                                         WallTime enqueued) const override;
    [[nodiscard]] std::string encode_rules(const std::vector<Rule>& rules) const override;
    [[nodiscard]] core::Result<std::vector<Rule>> decode_rules(
        std::string_view bytes) const override;

private:
    const amqp::ClockReading at_;
};

} // namespace sessionq::server
