// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace sessionq::client {

/// Collects the pages of a list of sessions, and decides whether to ask for another. A broker that
/// always has one more does not take all memory. Pure.
class SessionPages {
public:
    static constexpr std::uint32_t per_page = 1'000;

    explicit SessionPages(std::size_t most_bytes = std::size_t{128} << 20U) noexcept
        : most_bytes_{most_bytes} {}

    enum class Next : std::uint8_t { ask, done, too_much };
    Next add(std::vector<std::string> page) {
        for (const std::string& id : page) {
            bytes_ += sizeof(id) + id.size();
        }
        const bool is_full = page.size() >= per_page;
        std::move(page.begin(), page.end(), std::back_inserter(ids_));
        return bytes_ > most_bytes_ ? Next::too_much : is_full ? Next::ask : Next::done;
    }

    /// Where the next page begins.
    [[nodiscard]] std::uint32_t skip() const noexcept {
        return static_cast<std::uint32_t>(ids_.size());
    }
    [[nodiscard]] std::vector<std::string> take() noexcept { return std::move(ids_); }

private:
    const std::size_t most_bytes_;
    std::size_t bytes_{0};
    std::vector<std::string> ids_{};
};

} // namespace sessionq::client
