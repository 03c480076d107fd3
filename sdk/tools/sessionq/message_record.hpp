// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <sessionq/message.hpp>
#include <sessionq/received_message.hpp>

#include "tools/sessionq/json_text.hpp"

namespace sessionq::cli {

/// A line that is no message. Names the member.
class RecordError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The members of a message that was received or peeked, and the broker's facts about it.
/// `read_record` reads them again, without the facts.
[[nodiscard]] Json record_of(const ReceivedMessage& message);

/// Reads a line of JSON Lines over `pattern`, whose values hold where the line has none. `now` is
/// what a delay counts from. Throws RecordError.
[[nodiscard]] Message read_record(std::string_view line, Message pattern, WallTime now);

} // namespace sessionq::cli
