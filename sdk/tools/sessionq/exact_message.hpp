// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <sessionq/message_content.hpp>

#include "amqp/codec/encoded_content.hpp"
#include "tools/sessionq/json_text.hpp"

namespace sessionq::cli {

/// The sections of a received message that a message made of `members` and `body` would not have:
/// an object of base64 by the names of sections. Null: there are none. Facts of the delivery do not
/// count: the header's delivery count, and the annotations that only brokers set. `members` has no
/// body of its own, so that a large one is not copied.
[[nodiscard]] Json exact_sections(const MessageContent& content, const Message& members,
                                  std::string_view body);

/// Makes the message of `members` with these sections. Where `members` say something else than the
/// sections they count, because somebody edited the record; the rest stays byte for byte. A time to
/// live begins anew at `at`. Throws RecordError.
[[nodiscard]] MessageContentPtr with_exact_sections(const Message& members, const Json& sections,
                                                    const amqp::ClockReading& at);

} // namespace sessionq::cli
