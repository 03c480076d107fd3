// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sessionq::core {

/// Decides how many messages may be on their way to all sessions of a receive thread, so that
/// buffered messages stay within a number of bytes (R23). A message that was asked for and has not
/// come is estimated at the size that messages have had lately.
class ByteBudget {
public:
    /// The size that messages are expected to have before any came: the largest that brokers take,
    /// unless they are told otherwise. If it were less, the first large ones would exceed the
    /// budget. It is forgotten after some hundred small ones.
    static constexpr double first_guess = 1 << 20;

    explicit ByteBudget(std::size_t bytes, double message_bytes = first_guess) noexcept
        : budget_{bytes}, average_{message_bytes} {}

    /// How many more messages there is room for.
    [[nodiscard]] std::uint32_t affordable() const noexcept {
        const double reserved =
            static_cast<double>(buffered_) + static_cast<double>(expected_) * average_;
        const double room = (static_cast<double>(budget_) - reserved) / std::max(average_, 1.0);
        return room <= 0 ? 0 : static_cast<std::uint32_t>(std::min(room, 1e6));
    }

    /// A session shares the budget from now on, or no more.
    void join() noexcept { ++sharers_; }
    void part() noexcept { --sharers_; }
    [[nodiscard]] std::size_t sharers() const noexcept { return sharers_; }
    /// How many messages each of them may have.
    [[nodiscard]] std::uint32_t share() const noexcept {
        const double room = static_cast<double>(budget_) / std::max(average_, 1.0) /
                            static_cast<double>(std::max<std::size_t>(sharers_, 1));
        return static_cast<std::uint32_t>(std::min(room, 1e6));
    }

    /// `count` more messages were asked for.
    void expect(std::uint32_t count) noexcept { expected_ += count; }

    /// `count` messages that were asked for will not come.
    void unexpect(std::uint32_t count) noexcept {
        expected_ -= std::min<std::uint64_t>(expected_, count);
    }

    /// A message came. If it was expected, call `unexpect` as well.
    void arrived(std::size_t bytes) noexcept {
        buffered_ += bytes;
        average_ += (static_cast<double>(bytes) - average_) / 16;
    }

    /// A message that came is kept no longer.
    void gone(std::size_t bytes) noexcept { buffered_ -= std::min(buffered_, bytes); }

    [[nodiscard]] std::size_t budget_bytes() const noexcept { return budget_; }
    [[nodiscard]] std::size_t buffered_bytes() const noexcept { return buffered_; }
    [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }

private:
    std::size_t budget_;
    std::size_t buffered_{0};
    std::uint64_t expected_{0};
    double average_;
    std::size_t sharers_{0};
};

} // namespace sessionq::core
