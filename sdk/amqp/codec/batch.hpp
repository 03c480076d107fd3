#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sessionq::amqp {

/// The message format of a transfer that carries a batch: one message whose data sections are
/// encoded messages (Azure Service Bus).
inline constexpr std::uint32_t batch_format = 0x80013700;

/// The messages of a batch; views of `encoded`. Nothing if it is none.
[[nodiscard]] std::optional<std::vector<std::string_view>> split_batch(std::string_view encoded);

/// A batch of encoded messages; the envelope repeats what of the first one brokers route by. At
/// least one.
[[nodiscard]] std::string make_batch(const std::vector<std::string>& encoded_messages);

/// How much an encoded message adds to a batch.
[[nodiscard]] constexpr std::size_t batched_size(std::size_t encoded_size) noexcept {
    return encoded_size + (encoded_size <= 255 ? 5 : 8);
}

} // namespace sessionq::amqp
