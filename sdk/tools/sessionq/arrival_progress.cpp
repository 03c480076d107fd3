// SPDX-License-Identifier: MIT
#include "tools/sessionq/arrival_progress.hpp"

#include <iterator>

#include <sessionq/error.hpp>

#include "client/browsing/page_progress.hpp"

namespace sessionq::cli {

bool NumberSet::add(std::int64_t number) {
    const auto behind = ranges_.upper_bound(number);
    const bool joins_behind = behind != ranges_.end() && behind->first - 1 == number;
    if (behind != ranges_.begin()) {
        auto& [first, last] = *std::prev(behind);
        if (number <= last) {
            return false;
        }
        if (last + 1 == number) {
            last = joins_behind ? behind->second : number;
            if (joins_behind) {
                ranges_.erase(behind);
            }
            return true;
        }
    }
    const std::int64_t last = joins_behind ? behind->second : number;
    if (joins_behind) {
        ranges_.erase(behind);
    }
    ranges_.emplace(number, last);
    return true;
}

void ArrivalProgress::add(const std::vector<LockedMessage>& messages) {
    bool is_new = messages.empty();
    for (const LockedMessage& message : messages) {
        const std::int64_t number = message.sequence_number();
        is_new = numbers_.add(number) || number == 0 || is_new;
    }
    if (!is_new) {
        throw Error{detail::client::no_progress(
            "it delivers the same messages of '" + entity_ + "' again, first number " +
            std::to_string(messages.front().sequence_number()))};
    }
}

void ArrivalProgress::end_session(std::size_t count) {
    empty_sessions_ = count == 0 ? empty_sessions_ + 1 : 0;
    if (empty_sessions_ > most_empty_sessions) {
        throw Error{detail::client::no_progress("it grants sessions of '" + entity_ +
                                                "' again and again, "
                                                "and they have no messages")};
    }
}

} // namespace sessionq::cli
