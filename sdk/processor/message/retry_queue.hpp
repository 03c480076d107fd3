// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include "processor/message/message_machine.hpp"

namespace sessionq::detail::processor {

/// Holds the messages of a session that wait for an instant: for their next try, or to be given
/// back to the broker (delayed abandon, parking, `retry_later`). They are sorted by that instant.
/// `MessageLists` owns the queue. Without order, thousands may wait.
class RetryQueue {
public:
    void add(MessageMachine& message) { waiting_.emplace(message.retry_at(), &message); }

    /// Takes the first message. Null: none waits.
    [[nodiscard]] MessageMachine* take() noexcept { return take_due(TimePoint::max()); }
    /// Takes the first message that waits for `now` or earlier. Null: there is none.
    [[nodiscard]] MessageMachine* take_due(TimePoint now) noexcept {
        if (waiting_.empty() || waiting_.begin()->first > now) {
            return nullptr;
        }
        MessageMachine* const first = waiting_.begin()->second;
        waiting_.erase(waiting_.begin());
        return first;
    }

    /// Removes a message. Returns false if it does not wait here.
    bool remove(const MessageMachine& message) noexcept {
        const auto [first, last] = waiting_.equal_range(message.retry_at());
        const auto found = std::find_if(
            first, last, [&message](const auto& each) { return each.second == &message; });
        if (found == last) {
            return false;
        }
        waiting_.erase(found);
        return true;
    }

    /// The instant of the first message; TimePoint::max(): none waits.
    [[nodiscard]] TimePoint next() const noexcept {
        return waiting_.empty() ? TimePoint::max() : waiting_.begin()->first;
    }
    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

private:
    std::multimap<TimePoint, MessageMachine*> waiting_{};
};

} // namespace sessionq::detail::processor
