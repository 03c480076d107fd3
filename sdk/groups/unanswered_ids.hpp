// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace sessionq::groups {

/// Recognises messages that come again after a connection was lost. It keeps the ids of messages
/// whose settlement the broker may not have received. Each endpoint has one. `take_arrival` marks a
/// message with such an id as redelivered, because not every broker does.
///
/// The number of ids is limited: the oldest ids are forgotten. A `ports::SettlementBook` cannot do
/// this, because the owners of these settlements were answered already.
class UnansweredIds {
public:
    static constexpr std::size_t most_settled = 8192;
    static constexpr std::size_t most_lost = 100'000;

    /// A settlement was sent, and the broker does not answer settlements.
    void settled(std::string_view id) {
        if (settled_.size() < most_settled) {
            settled_.emplace_back(id);
        } else {
            settled_[next_].assign(id);
            next_ = (next_ + 1) % most_settled;
        }
    }
    /// The connection was lost while this message was unsettled.
    void held(std::string_view id) { remember(std::string{id}); }
    /// The connection was lost. Messages that were settled lately may come again.
    void lost() {
        for (std::string& id : settled_) {
            remember(std::move(id));
        }
        settled_.clear();
        next_ = 0;
    }
    /// Whether a message with this id may have come before. The id is forgotten.
    [[nodiscard]] bool comes_again(std::string_view id) {
        return !lost_.empty() && lost_.erase(std::string{id}) != 0;
    }

private:
    void remember(std::string id) {
        if (id.empty() || !lost_.insert(id).second) {
            return;
        }
        order_.push_back(std::move(id));
        if (order_.size() > most_lost) {
            lost_.erase(order_.front());
            order_.pop_front();
        }
    }

    std::vector<std::string> settled_{};
    std::size_t next_{0};
    std::unordered_set<std::string> lost_{};
    std::deque<std::string> order_{};
};

} // namespace sessionq::groups
