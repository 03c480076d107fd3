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
    /// Estimated memory of a message beside its bytes.
    static constexpr std::size_t message_bytes = 384;

    /// `encoded` and `limits` outlive the decoder.
    BatchDecoder(std::string_view encoded, const Limits& limits);

    /// Memory that all messages take once they are decoded.
    [[nodiscard]] std::size_t memory() const noexcept { return memory_; }

    [[nodiscard]] std::size_t left() const noexcept { return parts_.size() - decoded_.size(); }
    /// Decodes at most so many. Returns true once all are, or one cannot be.
    bool decode(std::size_t count, broker::Instant now);
    /// All messages, or why there are none: protocol_error, message_too_large beyond the limits, or
    /// another refusal of a message.
    [[nodiscard]] core::Result<std::vector<MessageContentPtr>> take() &&;

private:
    const Limits& limits_;
    std::size_t memory_{0};
    std::vector<std::string_view> parts_{};
    std::vector<MessageContentPtr> decoded_{};
    std::optional<Failure> failure_{};
    std::string made_{}; // memory for one message
};

/// Decodes a message that came alone; it is kept as received. Fails as the batch does. Refuses in
/// the same way as Azure Service Bus:
/// - an application property of type binary (azure-sdk-for-python#30140);
/// - one of more than 32 KB (azure-sdk-for-net#15325);
/// - properties of more than 64 KB together (rebus-org/Rebus.AzureServiceBus#35);
/// - a partition key that differs from the session id (azure-sdk-for-java pull 10612).
[[nodiscard]] core::Result<MessageContentPtr> decode_message(std::string_view encoded,
                                                             broker::Instant now,
                                                             const Limits& limits);

} // namespace sessionq::server
