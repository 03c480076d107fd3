// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sessionq::broker::filter {

/// Counts work in steps, up to the limit of one turn. A step is a character compared by LIKE, about
/// a nanosecond; other work is counted as the steps that take as long.
class Work {
public:
    /// If `goes_on`, the first piece of work that has no room is begun all the same. So a turn that
    /// delays nobody else always gets on.
    explicit Work(std::uint64_t limit, bool goes_on = false) noexcept
        : limit_{limit}, goes_on_{goes_on} {}

    /// Returns true if work that takes at most so many steps may begin in this turn.
    [[nodiscard]] bool begin(std::uint64_t steps) noexcept {
        return (done_ <= limit_ && steps <= limit_ - done_) || std::exchange(goes_on_, false);
    }

    void add(std::uint64_t steps) noexcept { done_ += steps; }
    /// Reading, copying or comparing a text of this length, or looking through as many properties.
    void add_text(std::size_t bytes) noexcept { done_ += bytes / text_bytes_a_step; }
    void add_lookup(std::size_t properties) noexcept { done_ += properties * steps_a_property; }

    [[nodiscard]] std::uint64_t done() const noexcept { return done_; }

    static constexpr std::uint64_t text_bytes_a_step = 8;
    static constexpr std::uint64_t steps_a_property = 8;
    static constexpr std::uint64_t steps_a_node = 32;

private:
    std::uint64_t limit_;
    std::uint64_t done_{0};
    bool goes_on_;
};

} // namespace sessionq::broker::filter
