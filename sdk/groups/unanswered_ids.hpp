#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace sessionq::groups {

/// The ids of messages whose settlement a broker may not have heard of when its connection was
/// lost: when they come again they are marked as redelivered, which not every broker does by
/// itself. Bounded: of what is more, the oldest is forgotten.
class UnansweredIds {
public:
    static constexpr std::size_t most_settled = 8192;
    static constexpr std::size_t most_lost = 100'000;

    /// A settlement was sent that the broker does not answer.
    void settled(std::string_view id) {
        if (settled_.size() < most_settled) {
            settled_.emplace_back(id);
        } else {
            settled_[next_].assign(id);
            next_ = (next_ + 1) % most_settled;
        }
    }
    /// The connection is lost with this message unsettled.
    void held(std::string_view id) { remember(std::string{id}); }
    /// The connection is lost: what was settled lately may come again.
    void lost() {
        for (std::string& id : settled_) {
            remember(std::move(id));
        }
        settled_.clear();
        next_ = 0;
    }
    /// Whether a message that came is one of these; it is forgotten then.
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
