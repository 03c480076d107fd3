// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// The pages of a database file.
struct FilePages {
    std::int64_t all{0};
    std::int64_t unused{0};
    std::int64_t bytes{0}; ///< of a page
};

/// How many unused pages a file has too many: more than 8 MiB, and more than a quarter of the file.
/// New messages use the others.
[[nodiscard]] constexpr std::int64_t pages_to_return(const FilePages& file) noexcept {
    constexpr std::int64_t kept_bytes = std::int64_t{8} << 20U;
    if (file.bytes <= 0) {
        return 0;
    }
    // A page that is returned makes the file smaller, and so the quarter of it.
    const std::int64_t beyond_quarter = (4 * file.unused - file.all + 2) / 3;
    return std::max<std::int64_t>(std::min(file.unused - kept_bytes / file.bytes, beyond_quarter),
                                  0);
}

/// Decides when a store returns unused pages to the disk, and how many at once. Commits wait for a
/// step, so steps are short and have pauses between them.
class RoomReturn {
public:
    static constexpr Duration shortest_pause = std::chrono::milliseconds{100};
    static constexpr int pauses_per_step = 9; ///< a tenth of the time for steps is the most
    static constexpr Duration short_step = std::chrono::milliseconds{5};
    static constexpr Duration long_step = std::chrono::milliseconds{15};
    static constexpr std::int64_t fewest_pages = 32;
    static constexpr std::int64_t most_pages = 1024;

    /// Pages may have become unused.
    void on_commit() noexcept { is_open_ = true; }

    /// Whether there may be pages to return: call `is_due` again soon.
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    [[nodiscard]] bool is_due(TimePoint now) const noexcept { return is_open_ && now >= next_; }

    /// How many pages to return in this step. Zero: enough are returned, until the next commit.
    [[nodiscard]] std::int64_t pages_of_step(const FilePages& file, TimePoint now) noexcept {
        const std::int64_t pages = std::min(pages_to_return(file), pages_);
        is_open_ = pages > 0;
        next_ = now + shortest_pause;
        return pages;
    }

    /// A step has returned `returned` pages. Without any, there is no other before the next commit.
    void on_step(std::int64_t returned, Duration took, TimePoint now) noexcept {
        is_open_ = returned > 0;
        next_ = now + std::max(shortest_pause, took * pauses_per_step);
        if (took > long_step) {
            pages_ = std::max(pages_ / 2, fewest_pages);
        } else if (took < short_step) {
            pages_ = std::min(pages_ * 2, most_pages);
        }
    }

private:
    bool is_open_{true}; // the run before may have left pages
    TimePoint next_{};
    std::int64_t pages_{128};
};

} // namespace sessionq::broker
