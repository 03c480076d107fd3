// SPDX-License-Identifier: MIT
#include "tools/sessionq/dead_letter_filter.hpp"

namespace sessionq::cli {

bool DeadLetterFilter::matches(const ReceivedMessage& message, WallTime now) const {
    const auto& why = message.facts().dead_letter;
    return (!session || message.shared_content()->session_id() == std::string_view{*session}) &&
           (!reason || (why && why->reason == *reason)) &&
           (!older_than || now - message.enqueued_time() > *older_than);
}

} // namespace sessionq::cli
