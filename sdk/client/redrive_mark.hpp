// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/message.hpp>
#include <sessionq/received_message.hpp>

namespace sessionq::client {

/// The copy that a redrive sends for a dead letter of `source`, with its mark. The same dead letter
/// always has the same message id. Throws `protocol_error` if the dead letter cannot be decoded.
[[nodiscard]] Message redriven_copy(const ReceivedMessage& letter, std::string_view source);

/// The sequence number of the dead letter of `source` whose copy the message is. Nothing if it is
/// none.
[[nodiscard]] std::optional<std::int64_t> redriven_from(const MessageContent& message,
                                                        std::string_view source);

} // namespace sessionq::client
