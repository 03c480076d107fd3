#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sessionq::processor {

/// Decides how many messages may be on their way to all sessions of a shard, so that what is
/// buffered stays within a byte budget (R23). Each session may always have one message, or nothing
/// would move; everything beyond is counted at the size messages have had lately.
class CreditPolicy {
public:
    explicit CreditPolicy(std::size_t budget_bytes) noexcept : budget_{budget_bytes} {}

    /// The session's messages fetched ahead: enough that handlers need not wait for the link.
    [[nodiscard]] static std::uint32_t window(std::uint32_t configured,
                                              std::uint32_t calls_per_session) noexcept {
        return configured != 0 ? configured : std::max<std::uint32_t>(32, 2 * calls_per_session);
    }

    /// How much credit to add for a session that has `held` messages and `outstanding` credit, and
    /// books it. Zero unless at least half of the window is free, so that flows are few.
    [[nodiscard]] std::uint32_t grant(std::uint32_t window, std::uint32_t held,
                                      std::uint32_t outstanding) noexcept {
        const std::uint32_t used = held + outstanding;
        if (used >= window || (used != 0 && (window - used) * 2 < window)) {
            return 0;
        }
        const std::uint32_t wanted = window - used;
        std::uint32_t granted = std::min(wanted, affordable());
        if (granted == 0 && used == 0) {
            granted = 1;
        }
        outstanding_ += granted;
        return granted;
    }

    /// Whether a session that was granted less than it could use may try again.
    [[nodiscard]] bool has_room() const noexcept { return affordable() != 0; }

    /// A message came; on credit, or late, after the credit was counted as given back.
    void arrived(std::size_t bytes, bool on_credit) noexcept {
        used_credit(on_credit ? 1 : 0);
        buffered_ += bytes;
        average_ += (static_cast<double>(bytes) - average_) / 16;
    }
    void used_credit(std::uint32_t count) noexcept {
        outstanding_ -= std::min<std::uint64_t>(outstanding_, count);
    }
    void gone(std::size_t bytes) noexcept { buffered_ -= std::min(buffered_, bytes); }

    [[nodiscard]] std::size_t budget_bytes() const noexcept { return budget_; }
    [[nodiscard]] std::size_t buffered_bytes() const noexcept { return buffered_; }
    [[nodiscard]] std::uint64_t outstanding() const noexcept { return outstanding_; }

private:
    [[nodiscard]] std::uint32_t affordable() const noexcept {
        const double reserved =
            static_cast<double>(buffered_) + static_cast<double>(outstanding_) * average_;
        const double room = (static_cast<double>(budget_) - reserved) / std::max(average_, 1.0);
        return room <= 0 ? 0 : static_cast<std::uint32_t>(std::min(room, 1e6));
    }

    std::size_t budget_;
    std::size_t buffered_{0};
    std::uint64_t outstanding_{0};
    double average_{1024};
};

} // namespace sessionq::processor
