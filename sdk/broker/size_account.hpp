// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::broker {

/// The bytes of a topic's messages: its own, those in its subscriptions, each copy, and their dead
/// letters. Each of these entities has a lock of its own, so all may change it at the same time.
class SizeAccount {
public:
    /// `most`: the topic's bound. Zero: none.
    explicit SizeAccount(std::uint64_t most) noexcept : most_{most} {}

    [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
    void add(std::uint64_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void take(std::uint64_t bytes) noexcept { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return bytes_.load(std::memory_order_relaxed);
    }

private:
    const std::uint64_t most_;
    std::atomic<std::uint64_t> bytes_{0};
};

} // namespace sessionq::broker
