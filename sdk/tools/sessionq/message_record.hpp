// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <sessionq/message.hpp>
#include <sessionq/message_content.hpp>
#include <sessionq/received_message.hpp>

#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/record_error.hpp"

namespace sessionq::cli {

/// A message to send.
struct Record {
    Message message{};
    MessageContentPtr exact{}; ///< the same with bytes that members cannot say; null: none
};

/// The members of a message that was received or peeked, and the broker's facts about it.
/// `read_record` reads them again, without the facts.
[[nodiscard]] Json record_of(const ReceivedMessage& message);

/// Reads a JSON object over `pattern`, whose values hold where the object has none: a record, or a
/// message that ServiceBusExplorer saved. A delay counts from `now`. Throws RecordError.
[[nodiscard]] Record read_record(std::string_view object, Message pattern, WallTime now);

} // namespace sessionq::cli
