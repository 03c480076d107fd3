// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sessionq::detail::client {

/// Collects the pages of a list of sessions, and decides whether to ask for another page.
/// `list_all_sessions` adds each page. A session that is listed twice is kept once. A broker with
/// endless pages cannot fill the memory, and a broker that repeats itself is detected. Pure.
class SessionPages {
public:
    static constexpr std::uint32_t per_page = 1'000;

    explicit SessionPages(std::size_t most_bytes = std::size_t{128} << 20U) noexcept
        : most_bytes_{most_bytes} {}

    /// The step after a page. `repeats`: the page is full, but names no new session. `too_much`:
    /// the ids take too much memory.
    enum class Next : std::uint8_t { ask, done, repeats, too_much };
    Next add(std::vector<std::string> page) {
        const std::size_t before = ids_.size();
        for (std::string& id : page) {
            if (!known_.contains(id)) {
                bytes_ += sizeof(id) + id.size();
                known_.insert(ids_.emplace_back(std::move(id)));
            }
        }
        listed_ += static_cast<std::uint32_t>(page.size());
        if (bytes_ > most_bytes_) {
            return Next::too_much;
        }
        const bool is_full = page.size() >= per_page;
        return !is_full ? Next::done : ids_.size() == before ? Next::repeats : Next::ask;
    }

    /// Returns where the next page begins. The broker counts each id that it has listed, and it
    /// counts a repeated id again.
    [[nodiscard]] std::uint32_t skip() const noexcept { return listed_; }
    [[nodiscard]] std::vector<std::string> take() {
        known_.clear();
        return {std::move_iterator{ids_.begin()}, std::move_iterator{ids_.end()}};
    }

private:
    const std::size_t most_bytes_;
    std::size_t bytes_{0};
    std::uint32_t listed_{0};
    std::deque<std::string> ids_{}; // a deque, because its strings stay where they are
    std::unordered_set<std::string_view> known_{}; // views of `ids_`
};

} // namespace sessionq::detail::client
