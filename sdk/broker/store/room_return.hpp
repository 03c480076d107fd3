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
/// step. So steps are short, have pauses between them, and wait for a moment without commits, but
/// not for ever.
class RoomReturn {
public:
    static constexpr Duration shortest_pause = std::chrono::milliseconds{100};
    static constexpr int pauses_per_step = 9; ///< steps take at most a tenth of the time
    /// A store that is never quiet for `shortest_pause` still returns pages so often.
    static constexpr Duration longest_wait = std::chrono::seconds{2};
    static constexpr Duration short_step = std::chrono::milliseconds{5};
    static constexpr Duration long_step = std::chrono::milliseconds{15};
    static constexpr std::int64_t fewest_pages = 16;
    static constexpr std::int64_t most_pages = 256;
    /// So many go to the disk at once: a file system takes long to shorten a file by a lot.
    static constexpr std::int64_t pages_per_checkpoint = 2048;

    /// Pages may have become unused.
    void on_commit(TimePoint now) noexcept {
        is_open_ = true;
        committed_ = now;
    }

    /// Whether there may be pages to return: call `is_due` again soon.
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    [[nodiscard]] bool is_due(TimePoint now) const noexcept {
        const bool is_quiet = now >= committed_ + shortest_pause;
        return is_open_ && now >= rested_ + (is_quiet ? Duration::zero() : longest_wait);
    }

    /// How many pages to return in this step. Zero: enough are returned, until the next commit.
    [[nodiscard]] std::int64_t pages_of_step(const FilePages& file, TimePoint now) noexcept {
        const std::int64_t pages = std::min(pages_to_return(file), pages_);
        is_open_ = pages > 0;
        rested_ = now + shortest_pause;
        return pages;
    }

    /// A step has returned `returned` pages. Without any, there is no other before the next commit.
    void on_step(std::int64_t returned, Duration took, TimePoint now) noexcept {
        is_open_ = returned > 0;
        unwritten_ += returned;
        rested_ = now + std::max(shortest_pause, took * pauses_per_step);
        if (took > long_step) {
            pages_ = std::max(pages_ / 2, fewest_pages);
        } else if (took < short_step) {
            pages_ = std::min(pages_ * 2, most_pages);
        }
    }

    /// Whether to write the log into the file, as the next step. Until then the file keeps its
    /// length. `pages`: of the next step.
    [[nodiscard]] bool takes_checkpoint(std::int64_t pages) noexcept {
        const bool is_time = unwritten_ > 0 && (pages == 0 || unwritten_ >= pages_per_checkpoint);
        unwritten_ = is_time ? 0 : unwritten_;
        is_open_ = is_open_ || is_time;
        return is_time;
    }

private:
    std::int64_t unwritten_{0};
    bool is_open_{true}; // the run before may have left pages
    TimePoint committed_{};
    TimePoint rested_{}; // the end of the pause
    std::int64_t pages_{64};
};

} // namespace sessionq::broker
