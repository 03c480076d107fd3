// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sessionq::amqp {

/// The message format of a batch: one message whose data sections are encoded messages. An
/// extension of Azure Service Bus.
inline constexpr std::uint32_t batch_format = 0x80013700;

/// The property of a sender's link that names the most bytes of a batch, a long.
inline constexpr std::string_view max_batch_size = "com.microsoft:max-message-batch-size";

/// Returns the messages of a batch as views of `encoded`, or nothing if it is not a batch. Goes no
/// further than `most`.
[[nodiscard]] std::optional<std::vector<std::string_view>> split_batch(
    std::string_view encoded, std::size_t most = std::numeric_limits<std::size_t>::max());

/// Makes a batch of at least one encoded message. The envelope repeats the parts of the first
/// message that brokers use for routing.
[[nodiscard]] std::string make_batch(const std::vector<std::string>& encoded_messages);

/// The bytes of the parts of an encoded message that a batch begins with if it comes first.
[[nodiscard]] std::size_t envelope_size(std::string_view encoded_message) noexcept;

/// The size of the messages in one send: of the batch, or of the only one.
[[nodiscard]] std::size_t sent_size(const std::vector<std::string>& encoded_messages) noexcept;

/// Returns the size that an encoded message adds to a batch.
[[nodiscard]] constexpr std::size_t batched_size(std::size_t encoded_size) noexcept {
    return encoded_size + (encoded_size <= 255 ? 5 : 8);
}

} // namespace sessionq::amqp
