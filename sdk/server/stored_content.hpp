#pragma once

#include "amqp/codec/encoded_content.hpp"
#include "broker/content_codec.hpp"

namespace sessionq::server {

/// Keeps contents in their AMQP form: what came over the wire byte for byte.
class StoredContent final : public broker::ContentCodec {
public:
    /// `at` is any reading of the clocks of this process: deadlines are kept on the wall's.
    explicit StoredContent(const amqp::ClockReading& at) noexcept : at_{at} {}

    [[nodiscard]] std::string_view encode(const MessageContent& content,
                                          std::string& scratch) const override;
    [[nodiscard]] core::Result<MessageContentPtr> decode(std::string_view bytes) const override;
    [[nodiscard]] std::string encode_rules(const std::vector<Rule>& rules) const override;
    [[nodiscard]] core::Result<std::vector<Rule>> decode_rules(
        std::string_view bytes) const override;

private:
    const amqp::ClockReading at_;
};

} // namespace sessionq::server
