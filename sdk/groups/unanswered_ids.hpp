// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace sessionq::groups {

/// The ids of messages whose settlement the broker may not have received before the connection was
/// lost. Such messages are marked as redelivered, which not every broker does. Bounded: the oldest
/// ids are forgotten. Not a `ports::SettlementBook`: their owners have been answered already.
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
    /// The connection was lost: messages settled lately may come again.
    void lost() {
        for (std::string& id : settled_) {
            remember(std::move(id));
        }
        settled_.clear();
        next_ = 0;
    }
    /// Whether the message that arrived is one of these. The id is forgotten.
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
